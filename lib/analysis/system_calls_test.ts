import assert from "node:assert/strict";
import { Tracks } from "../events/tracks.ts";
import { SystemCalls } from "./system_calls.ts";

Deno.test("system calls: sums by call and by thread, over all lives, most time first", () => {
  const track = new Tracks().lane(7, "system calls");
  const all = new SystemCalls();
  assert.equal(all.result(), null);
  const told = [["read", 7, 2, 10], ["futex", 8, 5, 400], ["read", 8, 1, 3], ["futex", 8, 1, 100]] as const;
  for (const [call, thread, calls, ns] of told) {
    all.instant({ type: "instant", track, name: "", category: "process.syscalls", at: 1, args: { call, thread, calls, ns } });
  }
  all.name({ type: "name", track: new Tracks().thread(7, 8), name: "worker", at: 1 });
  assert.deepEqual(all.result(), {
    calls: 9,
    totalNs: 513,
    names: [{ name: "futex", calls: 6, totalNs: 500, threads: 1 }, { name: "read", calls: 3, totalNs: 13, threads: 2 }],
    threads: [
      {
        pid: 7,
        tid: 8,
        name: "worker",
        calls: 7,
        totalNs: 503,
        names: [{ name: "futex", calls: 6, totalNs: 500 }, { name: "read", calls: 1, totalNs: 3 }],
      },
      { pid: 7, tid: 7, name: "", calls: 2, totalNs: 10, names: [{ name: "read", calls: 2, totalNs: 10 }] },
    ],
  });
});

Deno.test("system calls: threads of two processes that had one number have rows of their own", () => {
  const all = new SystemCalls();
  for (const [pid, calls] of [[10, 5], [20, 3]] as const) {
    const tracks = new Tracks(), track = tracks.lane(pid, "system calls");
    all.name({ type: "name", track: tracks.thread(pid, 11), name: `of ${pid}`, at: 1 });
    all.instant({ type: "instant", track, name: "", category: "process.syscalls", at: 1, args: { call: "futex", thread: 11, calls, ns: calls } });
  }
  const { names, threads } = all.result()!;
  assert.deepEqual(names, [{ name: "futex", calls: 8, totalNs: 8, threads: 2 }]);
  assert.deepEqual(threads.map(({ pid, tid, name, calls }) => [pid, tid, name, calls]), [[10, 11, "of 10", 5], [20, 11, "of 20", 3]]);
});

import assert from "node:assert/strict";
import { FakeProc } from "../../tests/harness/fake_machine.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { WatchedTracers } from "./watched_tracers.ts";

Deno.test("tracers: all threads that llmprof and its bpftraces have had are told when there is another one", async () => {
  using root = temporary();
  const proc = new FakeProc(root.path);
  const threads = (pid: number, ...tids: readonly number[]) => {
    for (const tid of tids) Deno.mkdirSync(`${root.path}/proc/${pid}/task/${tid}`, { recursive: true });
  };
  let pids = [100, 200];
  const tracers = new WatchedTracers(proc.files, () => pids);
  const look = async () => (await tracers.look()).map((fact) => fact.fact === "tracers" && fact.threads.toSorted((a, b) => a - b));
  threads(100, 100, 101);
  threads(200, 200);
  threads(300, 300);
  assert.deepEqual(await look(), [[100, 101, 200]]);
  assert.deepEqual(await look(), []);
  threads(100, 107);
  pids = [100, 300];
  assert.deepEqual(await look(), [[100, 101, 107, 200, 300]]);
  // Ever more rarely, where the processes are the same: at the 4th and the 8th time that it is asked.
  threads(100, 108);
  assert.deepEqual(await look(), [[100, 101, 107, 108, 200, 300]]);
  threads(100, 109);
  for (const _ of [5, 6, 7]) assert.deepEqual(await look(), []);
  assert.deepEqual(await look(), [[100, 101, 107, 108, 109, 200, 300]]);
});

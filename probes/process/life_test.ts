import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { Tracks } from "../../lib/events/tracks.ts";
import { Dispatch } from "../../lib/timeline/dispatch.ts";
import { life } from "./life.ts";

Deno.test("life: an exec names the process, forks and threads begin, exits say how", () => {
  const d = new Decoding(life);
  d.event(10, "process/life.exec", { file: "node" });
  d.event(20, "process/life.task", { id: 200 });
  d.event(30, "process/life.task", { id: 101, isThread: 1 });
  d.event(40, "process/life.exit", { name: "worker-1" }, "100/101");
  d.event(50, "process/life.exit", { code: 3 << 8, name: "node" }, "200");
  d.event(60, "process/life.exit", { code: 9 | 0x80, name: "node" });
  assert.deepEqual(d.end(70), [
    '100 is called "node" from 10',
    '100/100 process.exec "node" 10 file=node',
    '100/100 process.fork "fork" 20 child=200',
    '100/101 thread.start "start" 30',
    '100/101 is called "worker-1" from 40',
    '100/101 thread.exit "exit" 40',
    '200/200 process.exit "exit" 50 code=3 signal=0',
    // 0x80 says that a core was dumped.
    '100/100 process.exit "exit" 60 code=0 signal=9',
  ]);
});

Deno.test("life: whom the kernel killed for want of memory is said to have been, once, and not who ended before it could", () => {
  const d = new Decoding(life);
  d.event(10, "process/life.exec", { file: "node" });
  d.event(60, "process/life.exit", { code: 9 + 2 ** 16 + 2 ** 17, name: "worker" }, "100/101");
  d.event(60, "process/life.exit", { code: 9 + 2 ** 16, name: "node" });
  d.event(60, "process/life.exit", { code: 9 + 2 ** 17, name: "bash" }, "200");
  d.event(60, "process/life.exit", { code: 2 ** 16, name: "true" }, "300");
  assert.deepEqual(d.end(70).filter((line) => !/called|exec/.test(line)), [
    "mark note 60 test: the kernel killed node (100): there was no memory left for it",
    '100/101 thread.exit "exit" 60',
    '100/100 process.exit "exit" 60 code=0 signal=9 outOfMemory=true',
    '200/200 process.exit "exit" 60 code=0 signal=9',
    '300/300 process.exit "exit" 60 code=0 signal=0',
  ]);
});

Deno.test("life: whom the kernel killed for want of memory lacked what its control group allows, or what the whole machine had", () => {
  const limits = { cpus: null, throttled: 0, throttledNs: 0, memoryBytes: null, killed: 0, reads: [] };
  const whoseOf = (memoryLimit: number | null) => {
    const d = new Decoding(life);
    const look = (resident: number, available: number) =>
      d.fact(10, {
        fact: "memory",
        memory: { processes: [{ pid: 100, resident, locked: 0, swapped: 0 }], available, pageCache: 0, swappedIn: 0, swappedOut: 0 },
      });
    // What it had at most, and what the machine could give at least, need not be of one moment: the last look counts.
    look(90 << 20, 20 << 20);
    look(40 << 20, 60 << 20);
    d.fact(10, { fact: "limits", pid: 100, limits: { ...limits, memoryLimit } });
    d.event(60, "process/life.exit", { code: 9 + 2 ** 16, name: "node" });
    return /no memory left (.*)$/.exec(d.told().find((line) => line.startsWith("mark"))!)![1];
  };
  assert.deepEqual([100 << 20, (100 << 20) + 1, null].map(whoseOf), [
    "of the 100.0 MiB that the target's control group allows",
    "on the whole machine",
    "on the whole machine",
  ]);
});

Deno.test("life: who ran before is called as it calls itself, and who was seen to start by its file", () => {
  const d = new Decoding(life);
  d.event(10, "process/life.exec", { file: "a-long-name-of-a-program" });
  d.fact(20, { fact: "names", pid: 100, name: "a-long-name-of-", threads: [{ tid: 101, name: "worker" }] });
  d.fact(20, { fact: "names", pid: 200, name: "python3", threads: [] });
  assert.deepEqual(d.told().filter((line) => line.includes("called")), [
    '100 is called "a-long-name-of-a-program" from 10',
    '100/101 is called "worker" from 20',
    '200 is called "python3" from 20',
  ]);
});

Deno.test("life: a process ends with its last thread, and as that does, where it goes on without its first", () => {
  const d = new Decoding(life);
  const ended = () => d.spans.splice(0).flatMap((span) => span.type === "instant" && span.ended ? [[span.track.tid, span.ended]] : []);
  d.event(10, "process/life.exit", { code: 2 ** 17 }, "100");
  d.event(20, "process/life.exit", { code: 2 ** 17 }, "100/101");
  assert.deepEqual(ended(), []);
  d.event(30, "process/life.exit", { code: 11 | 0x80 }, "100/102");
  assert.deepEqual(ended(), [[102, { code: 0, signal: 11 }]]);
  d.event(40, "process/life.exit", {}, "200/201");
  d.event(50, "process/life.exit", { code: 3 << 8 }, "200");
  assert.deepEqual(ended(), [[200, { code: 3, signal: 0 }]]);
  // Another thread becomes another program, whose first it is.
  d.event(60, "process/life.exit", { code: 2 ** 17 }, "300");
  d.event(61, "process/life.exec", { file: "other" }, "300");
  d.event(70, "process/life.exit", {}, "300/301");
  assert.deepEqual(ended(), []);
});

Deno.test("life: of a recording that does not say which processes go on without their first thread nobody knows how one has ended", () => {
  const endedOf = (recorded: string) => {
    const ended: unknown[] = [];
    const dispatch = new Dispatch(() => life, new Tracks(), (span) => void (span.type === "instant" && ended.push(span.category, span.ended)));
    const [code, ...others] = life.records.exit!;
    const fields = [{ ...code!, unit: recorded }, ...others];
    dispatch.add({ stream: "process", records: { 12: { name: "process/life.exit", fields } }, maps: {}, disorderNs: 0 });
    dispatch.event({ at: 5, stream: "process", record: "process/life.exit", pid: 100, tid: 100, values: [3 << 8, 0, 0, ""] });
    return ended;
  };
  assert.deepEqual(endedOf(life.records.exit![0]!.unit!), ["process.exit", { code: 3, signal: 0 }]);
  assert.deepEqual(endedOf("wait status"), ["process.exit", undefined]);
});

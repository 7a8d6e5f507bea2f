import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { access } from "../files/access.ts";
import { life } from "../process/life.ts";
import { render } from "../../lib/programs/render.ts";
import { kernelPart } from "../../lib/session/program_part.ts";
import { recentDialect } from "../../tests/harness/dialect.ts";
import { fault } from "./fault.ts";

const MS = 1e6;

function withMappings(): Decoding {
  const d = new Decoding(fault, access, life);
  d.event(1, "files/access.map", { address: 0x1000, length: 0x4000, name: "small.gguf" });
  d.event(2, "files/access.anonymous", { address: 0x9000, length: 0x1000 });
  return d;
}

/** `count` faults, `step` apart, the last of them at an address. */
function run(d: Decoding, since: number, until: number, last: number, step: number, count: number, who?: string): void {
  d.event(until * MS, "memory/fault.run", { since: since * MS, until: until * MS, last, step, count }, who);
}

/** Without the sums by thread. */
function touches(d: Decoding): string[] {
  return d.end(30 * MS).filter((line) => !line.includes("memory.threads"));
}

Deno.test("fault: where the kernel does not say where faults are, as on aarch64, they are counted, and it is said what is not seen", () => {
  const rendered = (...tracepoints: readonly string[]) => {
    const notes: string[] = [];
    const { probes } = kernelPart([fault], { tracepoints: new Set(tracepoints) }, (note) => notes.push(note));
    const dialect = { ...recentDialect, arch: "aarch64", hasTracepoint: (name: string) => tracepoints.includes(name) } as const;
    const { text } = render({ stream: "process", probes, filter: { type: "tree", pids: [42] }, window: "signalled" }, dialect, () => []);
    const blocks = [...text.matchAll(/^(tracepoint:exceptions|software:[\w-]+|tracepoint:sched:sched_process_exit).*?@(fault\w+)/gms)];
    return { blocks: blocks.map(([, point, map]) => `${point} ${map}`), runs: text.includes("@fault_n"), notes };
  };
  const exit = "sched:sched_process_exit", there = rendered("exceptions:page_fault_user", exit), none = rendered(exit);
  assert.deepEqual(there, {
    blocks: ["tracepoint:exceptions faults", "software:major-faults fault_n", "tracepoint:sched:sched_process_exit fault_n"],
    runs: true,
    notes: [],
  });
  assert.deepEqual(none.blocks.at(-1), "software:page-faults faults");
  assert.equal(none.runs, false);
  assert.deepEqual(none.notes, [
    "page faults by thread, file and tensor, and which of them waited for the disk: not seen here, this kernel has no exceptions:page_fault_user",
  ]);
});

Deno.test("fault: how many each thread had, where no mapping was seen too, and how long it waited for the disk", () => {
  const d = withMappings();
  run(d, 10, 11, 0x1000, 0, 1);
  run(d, 10, 11, 0x1000, 0x100, 5, "100/101");
  run(d, 12, 12, 0x50000, 0, 1);
  run(d, 13, 13, 0x50000, 0, 2, "200");
  d.event(15 * MS, "memory/fault.major", { began: 11 * MS, address: 0x2000 });
  d.event(16 * MS, "memory/fault.major", { began: 15 * MS, address: 0x50000 });
  const told = d.ending(30 * MS).flatMap((span) => span.type === "instant" && span.faulted ? [[span.track.pid, span.faulted]] : []);
  assert.deepEqual(told, [
    [100, [{ tid: 100, faults: 2, major: 2, majorNs: 5 * MS }, { tid: 101, faults: 5, major: 0, majorNs: 0 }]],
    [200, [{ tid: 200, faults: 2, major: 0, majorNs: 0 }]],
  ]);
  assert.deepEqual(d.end(40 * MS), [], "they are told once");
});

Deno.test("fault: faults close together in one mapping are one touch", () => {
  const d = withMappings();
  run(d, 10, 10, 0x1000, 0, 1);
  run(d, 11, 12, 0x4fff, 0x100, 30);
  run(d, 17, 17, 0x2000, 0, 1);
  run(d, 22.1, 22.1, 0x2000, 0, 1);
  assert.deepEqual(touches(d), [
    '100 <page faults 100> memory.touch "fault in small.gguf" 10000000–17000000 file=small.gguf dev=0 inode=0 faults=32',
    '100 <page faults 100> memory.touch "fault in small.gguf" 22100000–22100000 file=small.gguf dev=0 inode=0 faults=1',
  ]);
});

Deno.test("fault: each thread and each mapping has touches of its own; memory that no mapping was seen of is not drawn", () => {
  const d = withMappings();
  run(d, 10, 10, 0x1000, 0, 1);
  run(d, 10, 10, 0x1000, 0, 1, "100/101");
  run(d, 11, 11, 0x9000, 0, 1);
  run(d, 12, 12, 0x5000, 0, 1);
  run(d, 13, 13, 0x1000, 0, 1, "200");
  assert.deepEqual(touches(d), [
    '100 <page faults 100> memory.touch "fault in small.gguf" 10000000–10000000 file=small.gguf dev=0 inode=0 faults=1',
    '100 <page faults 101> memory.touch "fault in small.gguf" 10000000–10000000 file=small.gguf dev=0 inode=0 faults=1',
    '100 <page faults 100> memory.touch "fault in memory" 11000000–11000000 faults=1',
  ]);
});

Deno.test("fault: a run across mappings is cut where they meet", () => {
  const d = withMappings();
  run(d, 10, 11, 0x9800, 0x800, 20);
  assert.deepEqual(touches(d), [
    '100 <page faults 100> memory.touch "fault in small.gguf" 10000000–11000000 file=small.gguf dev=0 inode=0 faults=8',
    '100 <page faults 100> memory.touch "fault in memory" 11000000–11000000 faults=2',
  ]);
});

Deno.test("fault: the time for which the disk was waited is a part of the touch", () => {
  const d = withMappings();
  d.event(15 * MS, "memory/fault.major", { began: 11 * MS, address: 0x2000 });
  run(d, 9, 11, 0x2000, 0x800, 2);
  assert.deepEqual(touches(d), [
    '100 <page faults 100> memory.touch "fault in small.gguf" 9000000–15000000 file=small.gguf dev=0 inode=0 faults=2 major=1 majorNs=4000000',
  ]);
});

Deno.test("fault: what a process had mapped, what it has mapped since, and what a child has of it", () => {
  const d = withMappings();
  d.fact(0, { fact: "mapped", pid: 300, files: [{ at: 0x1000, bytes: 0x4000, offset: 0, dev: 8, inode: 9, file: "old.gguf" }] });
  d.event(3, "files/access.map", { address: 0x2000, length: 0x1000, name: "other.gguf" });
  d.event(4, "process/life.task", { id: 200 });
  d.event(5, "files/access.unmap", { address: 0x9000, length: 0x1000 });
  for (const [address, who] of [[0x2000, "100"], [0x9000, "100"], [0x9000, "200"], [0x3000, "300"]] as const) run(d, 10, 10, address, 0, 1, who);
  d.event(11, "process/life.exec", {}, "200");
  run(d, 12, 12, 0x9000, 0, 1, "200");
  assert.deepEqual(touches(d).map((line) => line.replace(/ \d+–.*/, "")), [
    '100 <page faults 100> memory.touch "fault in other.gguf"',
    '200 <page faults 200> memory.touch "fault in memory"',
    '300 <page faults 300> memory.touch "fault in old.gguf"',
  ]);
});

Deno.test("fault: a run that is told late lies in what was there as it came, and not in what was mapped since", () => {
  const d = new Decoding(fault, access, life), place = { address: 0x100000, length: 0x100000 };
  d.event(1 * MS, "files/access.map", { ...place, name: "a.gguf" });
  d.event(15 * MS, "memory/fault.run", { since: 10 * MS, until: 11 * MS, last: 0x170000, step: 0x10000, count: 8 });
  d.event(20 * MS, "files/access.unmap", place);
  d.event(22 * MS, "files/access.map", { ...place, name: "b.gguf" });
  // The rest of the first file, what lay there before the second, and that one until another program took its place.
  d.event(23 * MS, "memory/fault.run", { since: 12 * MS, until: 13 * MS, last: 0x1f0000, step: 0x10000, count: 8 });
  d.event(23 * MS, "memory/fault.major", { began: 12 * MS, address: 0x1f0000 });
  d.event(24 * MS, "memory/fault.run", { since: 21 * MS, until: 21 * MS, last: 0x100000, count: 1 }, "100/101");
  d.event(25 * MS, "process/life.exec");
  d.event(26 * MS, "memory/fault.run", { since: 23 * MS, until: 24 * MS, last: 0x1f0000, step: 0x10000, count: 16 });
  d.event(27 * MS, "memory/fault.run", { since: 26 * MS, until: 26 * MS, last: 0x100000, count: 1 });
  assert.deepEqual(touches(d).map((line) => line.replace(/file=.* f/, "f")), [
    '100 <page faults 100> memory.touch "fault in a.gguf" 10000000–23000000 faults=16 major=1 majorNs=11000000',
    '100 <page faults 100> memory.touch "fault in b.gguf" 23000000–24000000 faults=16',
  ]);
});

Deno.test("fault: by tensor, also of what came before somebody had read the file, across the ends of tensors", () => {
  const d = new Decoding(fault, access, life);
  d.event(1, "files/access.map", { address: 0x10000, length: 0x10000, offset: 0x1000, dev: 8, inode: 9, name: "m.gguf" });
  // Offsets 0x1000 to 0x6000, three of them before the second tensor.
  run(d, 10, 10, 0x15000, 0x1000, 6);
  const tensors = [{ name: "a", offset: 0x1800 }, { name: "b", offset: 0x3800 }, { name: "c", offset: 0x8000 }];
  d.fact(15 * MS, { fact: "tensors", dev: 8, inode: 9, tensors });
  d.event(20 * MS, "memory/fault.major", { began: 18 * MS, address: 0x16fff });
  run(d, 18, 18, 0x16fff, 0, 1);
  run(d, 19, 19, 0x17000, 0, 1);
  const [told] = d.ending(30 * MS).filter((span) => span.type === "instant");
  const touched = told?.type === "instant" ? told.touched : undefined;
  assert.deepEqual(touched?.map(({ tensor, faults, major, majorNs }) => [tensor, faults, major, majorNs / MS]), [
    [null, 1, 0, 0],
    ["a", 2, 0, 0],
    ["b", 4, 1, 2],
    ["c", 1, 0, 0],
  ]);
});

Deno.test("fault: a run that no program can have sent is none, however long it would be", () => {
  const d = withMappings();
  d.event(3, "files/access.map", { address: 0x3000, length: -0x1000, name: "none.gguf" });
  for (const [last, step, count] of [[0x2000, -1, 1e15], [0x2000, 1, 1e18], [1e18, 1, 5], [0x2000, 1, 0], [0x2000, 1, -7]] as const) {
    run(d, 10, 10, last, step, count);
  }
  assert.deepEqual(touches(d), []);
});

Deno.test("fault: the exact count is a counter of the process", () => {
  const d = new Decoding(fault);
  d.snapshot(10, "memory/fault.faults", [100], 1009);
  assert.deepEqual(d.told(), ["100 <page faults> = 1009 at 10"]);
});

import assert from "node:assert/strict";
import { makeElf } from "../../tests/harness/elf.ts";
import { type FakeBpftrace, FakeTime, spawnBpftraces } from "../../tests/harness/fake_bpftrace.ts";
import { type FakeChild, fakeSpawn } from "../../tests/harness/fake_child.ts";
import { capable, FakeProc, FakeSymbols } from "../../tests/harness/fake_machine.ts";
import { type Temporary, temporary } from "../../tests/harness/temporary.ts";
import type { SpawnChild } from "../machine/child.ts";
import type { LlmprofError } from "../events/errors.ts";
import { FilesOnce } from "../machine/files_once.ts";
import { noGuard } from "../machine/guard.ts";
import type { Means } from "./means.ts";
import { dialectOf } from "./programs.ts";
import { Unwinding } from "./unwinding.ts";

/** Kinds of the records of probes/gate/unwind.ts in its program's lines. */
const HIDDEN = 10, STOPPED = 11;

/** What lets exceptions through; `cover` lets those of a process that has mapped the library which unwinds. */
function unwindingOf(root: string, spawn: SpawnChild, time: FakeTime, sleep: Means["sleep"], maps = true) {
  const proc = new FakeProc(root);
  proc.process(100, 1, "python3");
  const map = () => proc.map(100, "/opt/gcc/libgcc_s.so.1", 5, makeElf({ _Unwind_RaiseException: "55" }));
  if (maps) map();
  const machine = capable();
  const means = {
    files: proc.files,
    machine,
    symbols: new FakeSymbols(),
    spawn,
    sleep,
    monotonic: time.monotonic,
    origin: () => time.origin,
    self: 50,
  };
  const failures: string[] = [];
  const fail = ({ what, why }: LlmprofError) => void failures.push(`${what} ${why}`), counts = (pid: number) => Promise.resolve(pid === 100);
  const unwinding = new Unwinding(means as Means, dialectOf(machine), noGuard, fail, counts);
  return { proc, unwinding, failures, map, cover: () => unwinding.cover(new FilesOnce(proc.files), [100]) };
}

Deno.test("unwinding: when its bpftrace dies that is a failure, and when it is ended it is none", async () => {
  for (const dies of [true, false]) {
    using root = temporary();
    const time = new FakeTime(), bpftraces: FakeChild[] = [];
    const { unwinding, failures, cover } = unwindingOf(root.path, spawnBpftraces(time, () => {}, bpftraces), time, () => new Promise(() => {}));
    await cover();
    assert.equal(bpftraces.length, 1);
    if (dies) bpftraces[0]!.ends(137, "SIGKILL");
    while (dies && failures.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await unwinding.end();
    const killed = "bpftrace ended while it traced ('unwind'). Somebody killed it, or the kernel did because memory was short: see dmesg.";
    assert.deepEqual(failures, dies ? [killed] : []);
  }
});

Deno.test("unwinding: how often the target stood is told apart from how often others did", async () => {
  using root = temporary();
  const time = new FakeTime(), all: FakeBpftrace[] = [];
  const sleep = (ms: number) => new Promise<void>((resolve) => ms > 10 ? undefined : setTimeout(resolve, ms));
  const { unwinding, cover } = unwindingOf(root.path, spawnBpftraces(time, (bpftrace) => void all.push(bpftrace)), time, sleep);
  await cover();
  const stands = async (pid: number) => {
    const { stops, othersStops } = unwinding;
    all[0]!.event(HIDDEN, pid, 16, 7);
    all[0]!.event(STOPPED, pid);
    while (unwinding.stops + unwinding.othersStops === stops + othersStops) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      await unwinding.counted();
    }
    return [unwinding.stops - stops, unwinding.othersStops - othersStops];
  };
  assert.deepEqual([await stands(100), await stands(200)], [[1, 0], [0, 1]]);
  await unwinding.end();
});

Deno.test("unwinding: a bpftrace that does not get ready is not waited for without end, and is killed", async () => {
  using root = temporary();
  const bpftraces: FakeChild[] = [];
  const spawn = fakeSpawn((child) => void bpftraces.push(child));
  const { cover } = unwindingOf(root.path, spawn, new FakeTime(), () => Promise.resolve());
  await assert.rejects(cover(), { what: "bpftrace did not attach the program 'unwind' within 60 s." });
  assert.deepEqual(bpftraces.map(({ signals }) => signals), [["SIGKILL"]]);
});

Deno.test("unwinding: a process that maps what unwinds later, wherever that lies, is covered then; until then it is known to be not", async () => {
  await coveredOnceMapped(() => {});
});

Deno.test("unwinding: what lies where bpftrace would take its path for a pattern is no failure, and is covered when it is mapped", async () => {
  await coveredOnceMapped((proc, root) => {
    proc.program(100, "/opt/a[1]/bin/python3");
    const folder = root.file("proc/100/root/opt/a[1]/lib");
    Deno.mkdirSync(folder, { recursive: true });
    Deno.writeFileSync(`${folder}/libgcc_s.so.1`, makeElf({ _Unwind_RaiseException: "55" }));
  });
});

Deno.test("unwinding: where another library than GCC's offers it, too, both are covered; one that does not offer it is none", async () => {
  using root = temporary();
  const time = new FakeTime(), all: FakeBpftrace[] = [];
  const { proc, unwinding, cover } = unwindingOf(root.path, spawnBpftraces(time, (one) => void all.push(one)), time, () => new Promise(() => {}));
  proc.map(100, "/opt/libunwind.so.8", 6, makeElf({ _Unwind_RaiseException: "55", _Unwind_ForcedUnwind: "55" }));
  proc.map(100, "/opt/libunwind-x86_64.so.8", 7, makeElf({ _Ux86_64_step: "55" }));
  await cover();
  const program = await all[0]!.program;
  const files = new Set(program.match(/(?<=uprobe:)[^:]+(?=:"?_Unwind_RaiseException)/g));
  assert.deepEqual([all.length, files.size], [1, 2], program);
  await unwinding.end();
});

Deno.test("unwinding: whoever shares the file is covered by the same bpftrace, with the unwinder of its own; nobody who has ended is told of", async () => {
  using root = temporary();
  const time = new FakeTime(), all: FakeBpftrace[] = [];
  const { proc, unwinding } = unwindingOf(root.path, spawnBpftraces(time, (one) => void all.push(one)), time, () => new Promise(() => {}));
  proc.map(100, "/opt/libtorch_cpu.so", 3, new Uint8Array());
  for (const [pid, torch] of [[200, 3], [300, 4]] as const) {
    proc.process(pid, 1, "python3");
    proc.map(pid, "/srv/libtorch_cpu.so", torch, new Uint8Array());
    proc.map(pid, "/srv/libgcc_s.so.1", pid, makeElf({ _Unwind_RaiseException: "55" }));
  }
  await unwinding.cover(new FilesOnce(proc.files), [100, 400], new Map([[`${8 * 2 ** 20 + 2}:3`, "libtorch_cpu.so"]]));
  const program = await all[0]!.program;
  const pids = [...program.matchAll(/proc\/(\d+)\/map_files[^:]*:"?_Unwind_RaiseException/g)].map(([, pid]) => pid);
  assert.deepEqual([all.length, pids, [...unwinding.uncovered]], [1, ["100", "200"], []], program);
  await unwinding.end();
});

/** A process that has mapped nothing which unwinds is known to be uncovered, and is covered with one bpftrace when it has. */
async function coveredOnceMapped(prepare: (proc: FakeProc, root: Temporary) => void): Promise<void> {
  using root = temporary();
  const time = new FakeTime(), bpftraces: FakeChild[] = [];
  const spawn = spawnBpftraces(time, () => {}, bpftraces);
  const { proc, unwinding, map, cover } = unwindingOf(root.path, spawn, time, () => new Promise(() => {}), false);
  prepare(proc, root);
  await cover();
  assert.deepEqual([[...unwinding.uncovered], bpftraces.length], [[100], 0]);
  map();
  await cover();
  assert.deepEqual([[...unwinding.uncovered], bpftraces.length], [[], 1]);
  await unwinding.end();
}

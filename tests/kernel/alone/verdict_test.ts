/** Planted bottlenecks: what `sched` says that threads wait for, and that it waits less where its advice is followed. */
import assert from "node:assert/strict";
import type { IoResult } from "../../../lib/analysis/io_schema.ts";
import type { SchedResult } from "../../../lib/analysis/sched_schema.ts";
import { parsePressure } from "../../../lib/machine/pressure.ts";
import { mustRun } from "../../harness/command.ts";
import { sampledTest } from "../../harness/kernel.ts";
import { llmprof } from "../../harness/llmprof.ts";
import { temporary } from "../../harness/temporary.ts";
import { built } from "../../setup/programs.ts";
import { resultOf, share, told, toldBy, verdictOf } from "../bottleneck_run.ts";
import { startLlmprof, summaryOf } from "../live_run.ts";
import { compareSeen } from "../hidden_hits.ts";
import { lastOfThree } from "../last_of_three.ts";
import { fileSystem, loopDevice, memoryLimit, ownGroup, slowReads, swapOn } from "../loop_device.ts";

/** Microseconds for which somebody, and everybody, stood still for want of each, until now; `file`: which says so of a resource. */
function stalled(file: (resource: string) => string): number[] {
  return RESOURCES.map((resource) => parsePressure(Deno.readTextFileSync(file(resource)))).flatMap(({ some, full }) => [some!.total, full!.total]);
}

const RESOURCES = ["cpu", "io", "memory"] as const;
const toldStalls = (pressure: SchedResult["pressure"]) => RESOURCES.flatMap((resource) => [pressure![resource].someNs, pressure![resource].fullNs]);

sampledTest(0, "sched: pressure of the group is what the kernel counts there, and that of the machine lies around it; memory at its most", {
  fio: true,
  groups: true,
}, async ({ path }) => {
  using folder = temporary();
  await using device = await loopDevice(folder, 16);
  using slow = slowReads(device, 4 << 20);
  const wanting = async (words: readonly string[], tasks: readonly string[]) => {
    using group = ownGroup();
    const ofGroup = () => stalled((resource) => `${group.folder}/${resource}.pressure`);
    const ofMachine = () => stalled((resource) => `/proc/pressure/${resource}`);
    const before = ofGroup(), beforeAll = ofMachine();
    const { pressure, groupPressure } = await resultOf(path, folder, words, [group.tasks, ...tasks]);
    const grown = ofGroup().map((us, i) => (us - before[i]!) * 1000), all = ofMachine().map((us, i) => (us - beforeAll[i]!) * 1000);
    assert.deepEqual(toldStalls(groupPressure), grown);
    const within = toldStalls(pressure).every((ns, i) => (ns ?? 0) <= all[i]!);
    assert.ok(within, `${toldStalls(pressure)} told of the machine, ${all} in more time`);
    return { grown, machine: pressure! };
  };
  const { grown: [ns], machine } = await wanting(["crowd", String(4 * navigator.hardwareConcurrency)], []);
  assert.ok(ns! > 1e9 && machine.cpu.someNs! >= 0.98 * ns!, `${ns} in the group, ${machine.cpu.someNs} told of the machine`);
  // One alone that waits for a disk is everybody.
  const { grown: [, , some, full] } = await wanting(["disk", "1", device.path], [slow.tasks]);
  assert.ok(some! > 1e9 && full! > 0.9 * some!, `${some} and ${full} for want of a disk`);

  const { memory, groupPressure } = await resultOf(path, folder, ["hoard", "2"]);
  assert.equal(groupPressure, null);
  const [hoard] = memory!.processes;
  assert.ok(hoard!.residentBytes >= 128 << 20 && hoard!.residentBytes < 136 << 20, `${hoard!.residentBytes} bytes`);
  assert.deepEqual([hoard!.lockedBytes, hoard!.swappedBytes], [0, 0]);
});

sampledTest(1, "sched: a slow device is waited for", { fio: true, groups: true }, async ({ path }) => {
  using folder = temporary();
  await using device = await loopDevice(folder, 16);
  using group = slowReads(device, 4 << 20);
  const [first] = await verdictOf(path, folder, ["disk", "1", device.path], [group.tasks]);
  assert.deepEqual([first!.wait, first!.share > 0.5], ["disk", true]);
  assert.match(`${first!.evidence} ${first!.advice}`, new RegExp(`allows 4.0 MiB a second from ${device.name} .*raise the disk's limit first`));
  const fast = await verdictOf(path, folder, ["disk", "1", device.path]);
  assert.ok(share(fast, "disk") < first!.share, `${share(fast, "disk")} without a limit, ${first!.share} with`);
});

sampledTest(1, "io: a file on a slow device is waited for, in reads or in calls that fill a mapping, and not when it is in memory", {
  fio: true,
  groups: true,
}, async ({ path }) => {
  using folder = temporary();
  await using device = await loopDevice(folder, 48);
  const original = folder.file("original"), short = folder.file("short"), calls = ["madvise", "mlock", "mmap"];
  Deno.writeFileSync(original, new Uint8Array(12 << 20).fill(7));
  Deno.writeFileSync(short, new Uint8Array(2 << 20).fill(7));
  await using disk = await fileSystem(device, folder, { "weights.gguf": original, ...Object.fromEntries(calls.map((call) => [call, short])) });
  using group = slowReads(device, 4 << 20);
  const watch = async (command: string) => {
    const argv = ["sh", "-c", `echo $$ > ${group.tasks}; cd ${disk.path}; ${command}`];
    await using llmprof = startLlmprof("io", { bpftrace: path, folder, target: { argv }, formats: [], flags: ["--no-output"] });
    return summaryOf("io", await llmprof.finished()).result;
  };
  const read = () => watch("exec cat weights.gguf > /dev/null");
  const fromDisk = ({ files }: IoResult) => files.find(({ file }) => file === "weights.gguf")!.cachedBytes ?? 0;
  const cold = await read(), [first] = cold.verdict;
  assert.deepEqual([first!.wait, first!.of, first!.share > 0.5, fromDisk(cold) >= 12 << 20], ["reads", "weights.gguf", true, true]);
  assert.match(
    `${first!.evidence} ${first!.advice}`,
    new RegExp(`12.0 MiB.* from the disk; .*allows 4.0 MiB a second from ${device.name} .*raise the disk's limit first`),
  );
  // As its advice says of a second time.
  // (Somebody else may take pages of the cache away in between, as the kernel of a sandbox does for its host.)
  const warm = await lastOfThree(read, (result) => fromDisk(result) === 0), [second] = warm.verdict;
  assert.equal(fromDisk(warm), 0);
  assert.ok((second?.ns ?? 0) < first!.ns / 20, `${second?.ns} ns, ${first!.ns} from the disk`);
  // Where no read waits for it, but a call that fills a mapping.
  const { verdict } = await watch(`for call in ${calls.join(" ")}; do ${built.pagecache} $call $call; done`);
  assert.deepEqual(verdict.map(({ wait, of }) => [wait, of]).toSorted(), calls.map((call) => ["mappings", call]));
  for (const { of, ns, evidence } of verdict) {
    assert.ok(ns > 0.1e9, `${ns} ns in ${of}`);
    assert.match(evidence, new RegExp(`^${of}.* × \\d, .*which brought at most 2.0 MiB from the disk; .*allows 4.0 MiB a second`));
  }
}, true);

sampledTest(0, "sched: a process that the kernel kills because its control group has no more memory is told of, with the reason", {
  groups: true,
}, async ({ path }) => {
  using folder = temporary();
  using group = memoryLimit(32 << 20);
  const { result: { limits }, notes, target } = await told(path, folder, ["hoard", "1"], [group.tasks]);
  assert.deepEqual([limits!.killed, limits!.memoryLimit], [1, 32 << 20]);
  const why = "there was no memory left of the 32.0 MiB that the target's control group allows";
  assert.deepEqual(notes, [`the kernel killed bottleneck (${target!.pid}): ${why}`]);
});

sampledTest(0, "sched: weights that do not fit into memory are waited for, page by page", { fio: true, groups: true }, async ({ path }) => {
  using folder = temporary();
  const file = folder.file("weights");
  Deno.writeFileSync(file, new Uint8Array(64 << 20).fill(1));
  // What is cached already counts for whoever wrote it.
  await mustRun(["dd", `of=${file}`, "oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none"]);
  using group = memoryLimit(16 << 20);
  const [first] = await verdictOf(path, folder, ["memory", "1", file], [group.tasks]);
  assert.equal(first!.wait, "page fault");
  assert.ok(first!.share > 0.2, `${first!.share}`);
  assert.match(`${first!.evidence} ${first!.advice}`, /of the 16(?:\.0)? MiB that its control group allows.*Raise that limit/);
  // As --no-mmap does: read at once, where there is room.
  await mustRun(["dd", `if=${file}`, "of=/dev/null", "bs=1M", "status=none"]);
  assert.ok(share(await verdictOf(path, folder, ["memory", "1", file]), "page fault") < first!.share / 2);
});

/** Pages that came back from a swap device, of all processes. */
function swappedIn(): number {
  return Number(/^pswpin (\d+)$/m.exec(Deno.readTextFileSync("/proc/vmstat"))![1]);
}

sampledTest(2, "io, sched: memory that comes back from a swap device is waited for, fault by fault, and not where its limit is raised", {
  fio: true,
  groups: true,
}, async ({ path }) => {
  using folder = temporary();
  await using device = await loopDevice(folder, 256);
  await using _swap = await swapOn(device);
  const swapped = async <C extends "io" | "sched">(command: C, megabytes: number) => {
    using group = memoryLimit(megabytes << 20);
    const before = swappedIn();
    const { result, said } = await toldBy(command, path, folder, ["again", "1"], [group.tasks]);
    const [, tid, major] = /^{"tid":(\d+),.*"major":(\d+)}$/m.exec(said)!;
    const cause = result.verdict.find(({ wait }) => wait === "swap");
    return { result, cause, tid: Number(tid), major: Number(major), pages: swappedIn() - before };
  };
  const comesBack = /came back from swap.*its control group allows 32.0 MiB.*Raise that limit/;
  const io = await swapped("io", 32), sched = await swapped("sched", 32);
  assert.ok(io.major > 1000, `${io.major} major page faults`);
  assert.equal(io.result.threads.find(({ tid }) => tid === io.tid)!.major, io.major);
  // The thread that waits for this one has pages, too.
  assert.ok(Number(/^(\d+) page faults waited for it/.exec(io.cause!.evidence)![1]) >= io.major, io.cause!.evidence);
  for (const { result, cause, pages } of [io, sched]) {
    assert.equal(result.memory!.swappedInPages, pages);
    assert.match(`${cause!.evidence} ${cause!.advice}`, comesBack);
  }
  const { result: { verdict }, cause, major } = await swapped("sched", 256);
  assert.deepEqual([cause, share(verdict, "page fault"), major], [undefined, 0, 0]);
});

sampledTest(1, "sched: a convoy waits for its lock, and one thread does not", {}, async ({ path }) => {
  using folder = temporary();
  const [first] = await verdictOf(path, folder, ["convoy", "4"]);
  assert.deepEqual([first!.wait, first!.share > 0.5], ["lock", true]);
  assert.match(first!.evidence, /in futex, woken most by bottleneck/);
  assert.match(first!.advice, /^Threads wait for each other: fewer of them/);
  const fewer = share(await verdictOf(path, folder, ["convoy", "2"]), "lock");
  assert.ok(fewer < first!.share, `${fewer} with two threads, ${first!.share} with four`);
  assert.equal(share(await verdictOf(path, folder, ["convoy", "1"]), "lock"), 0);
}, true);

sampledTest(2, "sched: of who sleeps it is said that nothing is to be done, and nothing that it waits", {}, async ({ path }) => {
  // Of twenty naps each is a twentieth: one whose beginning the kernel skipped, as it says, looks like work.
  await compareSeen(async () => {
    using folder = temporary();
    const { result: { verdict }, events, recording } = await told(path, folder, ["idle", "2"]);
    if (verdict.length > 0 && events.skipped! > 0) return false;
    assert.deepEqual(verdict, []);
    const { stdout } = await mustRun([...llmprof, "sched", "--no-output", "--from", recording]);
    assert.match(stdout, /^ *Note: It is idle: no thread has anything to do for a hundredth of its time\.$/m);
    assert.doesNotMatch(stdout, /Waits for|Nothing waits/);
    return true;
  });
}, true);

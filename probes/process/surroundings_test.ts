import assert from "node:assert/strict";
import type { Fact } from "../../lib/events/fact.ts";
import type { Span } from "../../lib/events/span.ts";
import type { Limits, MemoryUse, Pressure } from "../../lib/events/surroundings.ts";
import { Tracks } from "../../lib/events/tracks.ts";
import { Surroundings } from "../../lib/analysis/surroundings.ts";
import { presentSurroundings, stolenNotes } from "../../lib/analysis/surroundings_present.ts";
import { SurroundingsDecoder } from "./surroundings.ts";

const SECOND = 1e9;

/** Microseconds stalled until now, for want of processors and of disks. */
function pressure(cpu: number, io: number, ioFull = 0): Pressure {
  const stalls = (total: number) => ({ avg10: 12.5, avg60: 0, avg300: 0, total });
  return { cpu: { some: stalls(cpu), full: stalls(0) }, io: { some: stalls(io), full: stalls(ioFull) }, memory: { some: null, full: null } };
}

function memory(resident: number, more: Partial<MemoryUse> = {}): Fact {
  const processes = [{ pid: 100, resident, locked: 0, swapped: 0 }];
  return { fact: "memory", memory: { processes, available: 5000, pageCache: 700, swappedIn: 0, swappedOut: 0, ...more } };
}

function told(facts: readonly (readonly [seconds: number, fact: Fact])[]) {
  const decoder = new SurroundingsDecoder(new Tracks()), analysis = new Surroundings(), spans: Span[] = [];
  for (const [seconds, fact] of facts) decoder.fact(fact, seconds * SECOND, (span) => spans.push(span));
  for (const span of spans) span.type === "counter" ? analysis.counter(span) : span.type === "instant" && analysis.instant(span);
  const values = (name: string) => spans.flatMap((span) => span.type === "counter" && span.track.name === name ? [span.value] : []);
  return { values, result: analysis.result() };
}

Deno.test("surroundings: pressure is the share of the time between two looks, and in all what the kernel counted between the first and the last", () => {
  const { values, result } = told([
    [1, { fact: "pressure", pressure: pressure(1_000_000, 50), group: pressure(10, 0) }],
    [2, { fact: "pressure", pressure: pressure(1_500_000, 50), group: pressure(10, 0) }],
    [4, { fact: "pressure", pressure: pressure(2_000_000, 1_000_050, 4), group: pressure(500_010, 0) }],
  ]);
  assert.deepEqual(values("pressure: cpu, some"), [12.5, 50, 25]);
  assert.deepEqual(values("pressure: io, some"), [12.5, 0, 50]);
  assert.deepEqual(values("pressure: cpu, full"), []);
  assert.deepEqual(values("pressure in its group: cpu, some"), [12.5, 0, 25]);
  const none = { someNs: null, fullNs: null };
  assert.deepEqual(result.pressure, { overNs: 3e9, cpu: { someNs: 1e9, fullNs: null }, io: { someNs: 1e9, fullNs: 4000 }, memory: none });
  assert.deepEqual(result.groupPressure, { overNs: 3e9, cpu: { someNs: 5e8, fullNs: 0 }, io: { someNs: 0, fullNs: 0 }, memory: none });
  assert.equal(result.memory, null);
  assert.deepEqual(presentSurroundings(result), []);
});

Deno.test("surroundings: what a hypervisor took is a share of the time in which processors had something to do, and is told from a hundredth on", () => {
  const look = (seconds: number, ns: number, busyNs: number) =>
    [seconds, { fact: "pressure", pressure: pressure(0, 0), stolen: { ns, busyNs } }] as const;
  const { values, result } = told([look(1, 500e9, 9000e9), look(2, 500e9, 9002e9), look(4, 500.32e9, 9008e9)]);
  assert.deepEqual(values("busy processors"), [0, 2, 3]);
  assert.deepEqual(values("taken by the hypervisor").map((percent) => Number(percent.toFixed(3))), [0, 0, 5.333]);
  assert.deepEqual(result.stolen, { ns: 320e6, busyNs: 8e9 });
  assert.match(stolenNotes(result)[0]!.text, /^For 4\.0 % of the time .* \(steal\): time on a processor contains it\./);
  assert.deepEqual(stolenNotes({ ...result, stolen: { ns: 79e6, busyNs: 8e9 } }), []);
  assert.equal(told([[1, { fact: "pressure", pressure: pressure(0, 0) }]]).result.stolen, null);
});

Deno.test("surroundings: of memory the most that each process had, the least that was left, and pages from and to swap", () => {
  const { values, result } = told([
    [1, memory(4096, { swappedIn: 70, swappedOut: 7 })],
    [2, memory(8192, { available: 1000, swappedIn: 80, swappedOut: 7 })],
    [3, memory(2048, { processes: [{ pid: 100, resident: 2048, locked: 512, swapped: 64 }, { pid: 101, resident: 1, locked: 0, swapped: 0 }] })],
    [4, memory(0, { processes: [], swappedIn: 81, swappedOut: 7 })],
  ]);
  assert.deepEqual(values("resident"), [4096, 8192, 2048, 1, 0, 0]);
  assert.deepEqual(values("locked"), [512, 0]);
  assert.deepEqual(values("pages swapped in"), [0, 10, 0.5]);
  assert.deepEqual(result.memory, {
    processes: [
      { pid: 100, residentBytes: 8192, lockedBytes: 512, swappedBytes: 64 },
      { pid: 101, residentBytes: 1, lockedBytes: 0, swappedBytes: 0 },
    ],
    residentBytes: 8192,
    lockedBytes: 512,
    swappedBytes: 64,
    leastAvailableBytes: 1000,
    swappedInPages: 11,
    swappedOutPages: 0,
  });
  const [facts] = presentSurroundings(result);
  assert.deepEqual(facts!.facts.map(({ name, value }) => [name, value]), [
    ["resident at most", 8192],
    ["locked at most", 512],
    ["available at least", 1000],
    ["swapped out", 64],
    ["pages from swap", 11],
  ]);
});

Deno.test("surroundings: what two processes have together is the most of one look, not of two", () => {
  const of = (...processes: readonly (readonly [pid: number, resident: number])[]) =>
    memory(0, { processes: processes.map(([pid, resident]) => ({ pid, resident, locked: 0, swapped: 0 })) });
  const { result } = told([[1, of([100, 10], [101, 8000])], [2, of([100, 10], [102, 8001])], [3, of([100, 5000], [102, 3000])]]);
  assert.equal(result.memory!.residentBytes, 8011);
});

Deno.test("surroundings: counts of a group into which the target is put go on from those of the group before", () => {
  const limits = (moves: number, killed: number, throttled: number, more: Partial<Limits> = {}): Fact => ({
    fact: "limits",
    pid: 100,
    moves,
    limits: { cpus: null, memoryLimit: null, memoryBytes: null, reads: [], killed, throttled, throttledNs: throttled * 1000, ...more },
  });
  const stalled = (moves: number, total: number): Fact => ({ fact: "pressure", pressure: pressure(0, 0), group: pressure(total, 0), moves });
  const { values, result } = told([
    [1, stalled(0, 500_000_000)],
    [1, limits(0, 3, 70)],
    [2, stalled(0, 500_250_000)],
    // In the one before somebody was killed once more, in the other one three were long ago.
    [3, limits(0, 4, 72)],
    [3, stalled(1, 1_000_000)],
    [3, limits(1, 3, 0, { cpus: 2 })],
    [4, stalled(1, 1_500_000)],
    // Its limit is raised: it is the same group.
    [4, limits(1, 4, 5, { cpus: 4 })],
  ]);
  assert.deepEqual(values("pressure in its group: cpu, some"), [12.5, 25, 12.5, 50]);
  assert.equal(result.groupPressure!.cpu.someNs, 750e6);
  assert.deepEqual([result.limits!.killed, result.limits!.throttled, result.limits!.throttledNs, result.limits!.cpus], [2, 7, 7000, 4]);
});

Deno.test("surroundings: a node from which all of a process's memory was moved has none of it", () => {
  const on = (...nodes: readonly (readonly [node: number, bytes: number])[]) =>
    memory(0, { processes: [{ pid: 100, resident: 1, locked: 0, swapped: 0, nodes: nodes.map(([node, bytes]) => ({ node, bytes })) }] });
  const { values } = told([[1, on([0, 10])], [2, memory(3)], [3, on([1, 10])]]);
  assert.deepEqual([values("resident on node 0"), values("resident on node 1")], [[10, 0], [10]]);
});

Deno.test("surroundings: what a process has let go of, or one that has ended had, is nothing from then on, told once", () => {
  const nodes = [{ node: 1, bytes: 9 }];
  const use = (locked: number, swapped: number) => memory(0, { processes: [{ pid: 100, resident: 9, locked, swapped, nodes }] });
  const none = memory(0, { processes: [] });
  const { values } = told([[1, use(0, 0)], [2, use(5, 0)], [3, use(0, 7)], [4, use(0, 7)], [5, none], [6, none], [7, use(0, 0)]]);
  assert.deepEqual([values("locked"), values("swapped out")], [[5, 0], [7, 7, 0]]);
  assert.deepEqual([values("resident"), values("resident on node 1")], [[9, 9, 9, 9, 0, 9], [9, 9, 9, 9, 0, 9]]);
});

import assert from "node:assert/strict";
import { hog, main, off, preempted, result, shut } from "../../tests/harness/sched_spans.ts";
import { seeded } from "../../tests/harness/spans.ts";
import type { Table } from "../events/view.ts";
import { Others } from "./others.ts";
import type { SchedResult } from "./sched_schema.ts";
import { presentSched } from "./sched_present.ts";

const MOST = 128;

/** Adds so many times of one nanosecond to a thousand of the others each, and to a few that have their share of all, counted here as well. */
function mixed(seed: number, times: number, shares: readonly number[]) {
  const random = seeded(seed), others = new Others(MOST), exact = new Map<number, number>();
  for (let i = 0; i < times; i++) {
    const drawn = random(1000) / 1000;
    let below = 0;
    const heavy = shares.findIndex((share) => drawn < (below += share));
    const tid = heavy >= 0 ? 1 + heavy : 100 + random(1000);
    others.add({ tid, name: `t${tid}` }, 1);
    exact.set(tid, (exact.get(tid) ?? 0) + 1);
  }
  return { others, exact };
}

/** Each of these is told, in the order of their shares, and what is told of it may lack what it is said to. */
function checkShares(others: Others, exact: ReadonlyMap<number, number>, tids: readonly number[]): void {
  const told = others.result();
  assert.deepEqual(told.map(({ tid }) => tid), tids);
  for (const { tid, name, ns, times, uncountedNs } of told) {
    const all = exact.get(tid)!;
    assert.equal(name, `t${tid}`);
    assert.ok(ns === times && ns <= all && all <= ns + uncountedNs, `${tid}: ${ns} and up to ${uncountedNs} of ${all}`);
  }
}

Deno.test("others: as long as there is room, all of them are counted", () => {
  const others = new Others(MOST);
  for (let tid = 1; tid <= MOST; tid++) others.add({ tid, name: "" }, tid, 2);
  assert.deepEqual(others.result().map(({ tid, ns, uncountedNs }) => [tid, ns, uncountedNs]), [128, 127, 126, 125, 124].map((tid) => [tid, tid, 0]));
});

Deno.test("others: among more than there is room for, those that stand out are told, whenever they come", () => {
  const { others, exact } = mixed(1, 50_000, [0.2, 0.1, 0.05]);
  checkShares(others, exact, [1, 2, 3]);
  // One of which nothing was heard until then.
  for (let i = 0; i < 40_000; i++) {
    const tid = i % 2 === 0 ? 7 : 100 + (i >> 1) % 1000;
    others.add({ tid, name: `t${tid}` }, 1);
    exact.set(tid, (exact.get(tid) ?? 0) + 1);
  }
  checkShares(others, exact, [7, 1, 2, 3]);
});

Deno.test("others: nobody is told who may have had less than one who was forgotten, and of who comes back it is said what may be missing", () => {
  assert.deepEqual(mixed(2, 50_000, []).others.result(), []);
  const others = new Others(4);
  for (const [tid, ns] of [[1, 10], [2, 20], [3, 30], [4, 40], [5, 50]] as const) others.add({ tid, name: "" }, ns);
  // Whoever comes back has lost no more than the last one who went.
  for (const ns of [29, 1]) {
    others.add({ tid: 1, name: "" }, ns);
    const told = others.result().map(({ tid, ns, uncountedNs }) => [tid, ns, uncountedNs]);
    assert.deepEqual(told, [[5, 50, 0], [4, 40, 0], ...ns === 1 ? [[1, 30, 30]] : []]);
  }
});

Deno.test("others: what several threads know of them is known together", () => {
  const parts = [3, 4, 5, 6].map((seed) => mixed(seed, 20_000, [0.2, 0.1])), exact = new Map<number, number>();
  for (const part of parts) for (const [tid, ns] of part.exact) exact.set(tid, (exact.get(tid) ?? 0) + ns);
  for (const most of [MOST, 4096]) {
    const all = new Others(most);
    for (const { others } of parts) all.addAll(others);
    checkShares(all, exact, [1, 2]);
  }
});

Deno.test("others: a thread that thousands wake is said to be woken most by somebody where somebody is", () => {
  const woken = (boss: boolean) => {
    const wakers = Array.from(
      { length: 10_000 },
      (_, i) => boss && i % 3 === 0 ? { pid: 1, tid: 7, name: "boss" } : { pid: 1, tid: 1000 + i, name: "one" },
    );
    return result([shut(0, true), ...wakers.map((waker, i) => off(main, "lock", i, i + 0.5, { waker })), shut(10_000, false)]);
  };
  const [alike, led] = [woken(false), woken(true)];
  assert.equal(alike.verdict[0]!.evidence, "10000 times");
  assert.deepEqual(alike.waits[0]!.wakers, []);
  assert.equal(led.verdict[0]!.evidence, "10000 times, woken most by boss (7)");
  assert.deepEqual(led.waits[0]!.wakers, [{ tid: 7, name: "boss", times: 3334, ns: 3334 * 5e5, uncountedNs: 0 }]);
  assert.match(JSON.stringify(presentSched(led)), /"boss \(7\) ×3334"/);
});

Deno.test("others: of who took processors and was forgotten for a while it is said that there may be more", () => {
  const ones = Array.from({ length: 5000 }, (_, i) => ({ ...hog, tid: 1000 + i, name: "one" }));
  const takers = (before: number) => {
    const all = [...ones.slice(0, before), ...Array<typeof hog>(9).fill(hog)];
    return result([shut(0, true), ...all.map((taker, i) => preempted(main, i, i + 0.5, { taker })), shut(all.length, false)], 1);
  };
  const shown = (found: SchedResult) => presentSched(found).find((view) => view.type === "table" && view.title === "Who took a processor from it");
  const [kept, forgotten] = [takers(2), takers(5000)];
  assert.deepEqual((shown(kept) as Table).rows[0], ["hog (300)", 9, 9 * 5e5]);
  assert.match(kept.verdict[0]!.evidence, /hog \(300\) took one 9 times$/);
  assert.deepEqual((shown(forgotten) as Table).rows[0], ["hog (300)", 9, 9 * 5e5, "or more"]);
  assert.match(forgotten.verdict[0]!.evidence, /hog \(300\) took one 9 times or more$/);
});

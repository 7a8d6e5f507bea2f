import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { blockTotals } from "./totals.ts";

const LOOP0 = 7 * 2 ** 20, S = 1e9;

/** Requests in flight at each tick: what the kernel's program counted, and what the kernel itself says a moment before. */
function inFlight(exact: 0 | 1, ticks: readonly (readonly [flying: number, kernel: number])[]): number[] {
  const ENDED = 1000;
  const d = new Decoding(blockTotals(1000));
  return ticks.map(([flying, kernel], i) => {
    d.fact(i * S - 1, { fact: "disks", disks: [{ dev: LOOP0, requests: kernel }] });
    d.snapshot(i * S, "block/totals.begun", [LOOP0], ENDED + 2 + flying);
    d.snapshot(i * S, "block/totals.returned", [LOOP0], 2);
    d.snapshot(i * S, "block/totals.latency", [LOOP0, 3], ENDED - 1);
    d.snapshot(i * S, "block/totals.latency", [LOOP0, 4], 1);
    d.event(i * S, "block/totals.tick", { exact });
    const [told] = d.spans.splice(0).flatMap((span) => span.type === "instant" ? span.totals!.inflight! : []);
    assert.equal(told!.device, "7:0");
    return told!.count;
  });
}

Deno.test("totals: where answers may be skipped, no more are in flight than the kernel says for some seconds", () => {
  assert.deepEqual(inFlight(0, [[3, 8], [40, 32], [45, 4], [45, 0], [45, 0], [45, 0]]), [3, 32, 32, 32, 4, 0]);
});

Deno.test("totals: where none is, what was counted is told, and never less than nothing", () => {
  assert.deepEqual(inFlight(1, [[3, 0], [-1, 0], [0, 7]]), [3, 0, 0]);
});

Deno.test("totals: what a turn saw begin and not end is in flight in no other turn, and a disk is called what the kernel calls it by then", () => {
  const d = new Decoding(blockTotals(1000));
  const tick = (at: number) => {
    d.event(at, "block/totals.tick", { exact: 1 });
    const [told] = d.spans.splice(0).flatMap((span) => span.type === "instant" ? span.totals! : []);
    return [told!.inflight!.map(({ count }) => count), told!.latency!.map(({ count }) => count), told!.names!.get("7:0")];
  };
  d.fact(0, { fact: "disks", disks: [{ dev: LOOP0, name: "loop0", requests: 0 }] });
  d.snapshot(1, "block/totals.begun", [LOOP0], 9);
  d.snapshot(1, "block/totals.latency", [LOOP0, 3], 5);
  assert.deepEqual(tick(1), [[4], [5], "loop0"]);
  // The last that it says comes with the first of the next.
  d.snapshot(2, "block/totals.latency", [LOOP0, 3], 7);
  d.stream = "another";
  d.snapshot(60, "block/totals.begun", [LOOP0], 3);
  d.snapshot(60, "block/totals.latency", [LOOP0, 3], 2);
  d.fact(60, { fact: "disks", disks: [{ dev: LOOP0, name: "other", requests: 0 }] });
  assert.deepEqual(tick(60), [[1], [2, 2], "other"]);
});

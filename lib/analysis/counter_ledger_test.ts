import assert from "node:assert/strict";
import type { CountedEvent } from "../events/span.ts";
import { Tracks } from "../events/tracks.ts";
import { CounterLedger, ruleOf } from "./counter_ledger.ts";

const track = new Tracks().lane(1, "worker 0");

function counted(ledger: CounterLedger, operator: string | null, event: CountedEvent, count: number, times = 1): void {
  for (let i = 0; i < times; i++) {
    ledger.counted({ type: "instant", track, name: event, category: "ggml.counted", at: i, counted: { event, count, operator } });
  }
}

Deno.test("counters: sums by operator, most cycles first, and what binds it by the paper's rule", () => {
  const ledger = new CounterLedger();
  counted(ledger, "ADD", "cycles", 1000, 2);
  counted(ledger, "MUL_MAT", "cycles", 1000, 100);
  counted(ledger, "MUL_MAT", "instructions", 1000, 50);
  counted(ledger, "MUL_MAT", "cache references", 10, 100);
  counted(ledger, "MUL_MAT", "cache misses", 10, 25);
  counted(ledger, null, "cycles", 1000);
  const { operators } = ledger.result()!;
  assert.deepEqual(operators.map(({ name, samples, cycles, instructions }) => [name, samples, cycles, instructions]), [
    ["MUL_MAT", 100, 100_000, 50_000],
    ["ADD", 2, 2000, 0],
    [null, 1, 1000, 0],
  ]);
  const [products] = operators;
  assert.deepEqual([products!.ipc, products!.missRate, products!.bound], [0.5, 0.25, "memory"]);
  assert.ok(Math.abs(products!.ipcError! - 0.5 * 1.96 * Math.sqrt(1 / 100 + 1 / 50)) < 1e-12);
  // Nobody counts these here, and ADD had no reference to the cache.
  assert.deepEqual([products!.branchMisses, products!.stalledCycles, operators[1]!.cacheReferences, operators[1]!.bound], [null, null, 0, null]);
});

Deno.test("counters: nothing counted is no result", () => assert.equal(new CounterLedger().result(), null));

Deno.test("counters: the rule, at its edges", () => {
  assert.deepEqual([ruleOf(0.99, 0.011), ruleOf(1, 0.011), ruleOf(0.99, 0.01), ruleOf(2.01, 0.004), ruleOf(2, 0.004), ruleOf(2.01, 0.005)], [
    "memory",
    "mixed",
    "mixed",
    "compute",
    "mixed",
    "mixed",
  ]);
  assert.deepEqual([ruleOf(null, 0.1), ruleOf(1, null)], [null, null]);
});

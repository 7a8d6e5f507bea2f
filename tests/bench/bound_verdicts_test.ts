import assert from "node:assert/strict";
import type { PartResult } from "../../lib/analysis/operators_schema.ts";
import { boundOf } from "../../lib/analysis/bound.ts";
import { reached, type Verdict, verdictsOf } from "./bound_verdicts.ts";
import { exitOf } from "./exit_of.ts";

const GB = 1e9;
const ceilings = {
  threads: 1,
  memoryBytes: 10 * GB,
  cacheBytes: 40 * GB,
  cacheSize: 32e6,
  cachesSize: 32e6,
  flops: 100 * GB,
  byteOperations: 200 * GB,
  bf16Flops: 150 * GB,
} as const;

/** A second of an operator that llmprof judges itself; its weights are in memory. */
function part(asked: Partial<PartResult>): PartResult {
  const known = { totalNs: 1e9, bytes: 0, coldBytes: 0, flops: 0, quantisedFlops: 0, bf16Flops: 0, atMost: false, ...asked };
  const bound = boundOf({ ...known, chooses: false }, ceilings, { weights: false, experts: false });
  return { calls: 1, meanNs: 1e9, p50Ns: 1e9, ...known, bound };
}

Deno.test("bounds: what a ceiling is exceeded by is seen, by however much, and where nothing is said to bind the operator", () => {
  const far = part({ flops: 300 * GB });
  assert.equal(far.bound, null, "llmprof says nothing of three times a ceiling");
  assert.equal(reached(far, ceilings), 3);
  assert.equal(reached(part({ flops: 110 * GB }), ceilings), 1.1);
  assert.equal(reached(part({ flops: 600 * GB, quantisedFlops: 600 * GB }), ceilings), 3);
  assert.equal(reached(part({ flops: 450 * GB, bf16Flops: 450 * GB }), ceilings), 3);
  assert.equal(reached(part({ bytes: 30 * GB, coldBytes: 30 * GB }), ceilings), 3);
  // Where they came from is not said; they came no faster than from the cache.
  assert.equal(reached({ ...part({ bytes: 120 * GB }), bound: null }, ceilings), 3);
  assert.equal(reached({ ...part({ bytes: 120 * GB, flops: 40 * GB }), bound: null }, { ...ceilings, cacheBytes: null }), 0.4);
});

Deno.test("bounds: nothing is reached where it is not known what was asked for, or only the most", () => {
  for (const unknown of [{ bytes: null }, { flops: null }, { quantisedFlops: null }, { bf16Flops: null }, { flops: 300 * GB, atMost: true }]) {
    assert.equal(reached(part(unknown), ceilings), null, JSON.stringify(unknown));
  }
  assert.equal(reached(part({ flops: 1 }), null), null);
});

Deno.test("bounds: what was found decides how the script ends", () => {
  const row = (name: string, reader: number, ...by: readonly string[]): Verdict => ({ name, by, reader, multiplier: 1 });
  const [memory, compute] = [row("MUL_MAT decode", 1.5, "memory"), row("MUL_MAT prefill", 1.02, "compute")];
  const exit = (told: readonly Verdict[], nearest: number) => exitOf(() => verdictsOf(told, () => "cache", nearest));
  assert.equal(exit([memory, compute], 1.04), 0);
  for (const nearest of [1.06, 3]) assert.equal(exit([memory, compute], nearest), 1);
  for (const wrong of [row("ADD decode", 1.1, "memory"), row("ADD decode", 1.1, "compute")]) assert.equal(exit([memory, wrong], 1), 1);
  assert.equal(exitOf(() => verdictsOf([memory], () => "memory", 1)), 1);
  // Of what is called this and that nothing is judged, and that is no success.
  const mixed = row("ADD decode", 1.1, "memory", "neither");
  assert.equal(exit([memory, mixed], 1), 2);
  assert.equal(exit([mixed], 1), 1);
  exitOf(() => assert.match(verdictsOf([memory, mixed], () => "cache", 1).join("\n"), /^1 of 2 were called bound by one thing in one round/m));
});

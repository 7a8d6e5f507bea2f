import assert from "node:assert/strict";
import { Histogram } from "./histogram.ts";
import { seeded } from "../../tests/harness/spans.ts";

Deno.test("quantiles are within 1/128 of the exact ones over nine orders of magnitude", () => {
  const random = seeded(2);
  const values = Array.from({ length: 20_000 }, () => Math.floor(Math.exp(random(1_000_000) / 1_000_000 * 27)));
  const whole = new Histogram(), half = new Histogram(), rest = new Histogram();
  values.forEach((v, i) => (whole.add(v), (i % 2 ? half : rest).add(v)));
  half.merge(rest);
  const sorted = values.toSorted((a, b) => a - b);
  for (const q of [0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1]) {
    const exact = sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)]!;
    const found = whole.quantile(q)!;
    assert.ok(Math.abs(found - exact) <= exact / 128, `${q}: ${found} instead of ${exact}`);
    assert.equal(half.quantile(q), found);
  }
  assert.equal(whole.sum, values.reduce((a, b) => a + b, 0));
  assert.equal(whole.mean, whole.sum / values.length);
});

Deno.test("small values and powers of two fall into their own buckets", () => {
  for (const value of [0, 1, 63, 64, 127, 128, 2 ** 31 - 1, 2 ** 31, 2 ** 40, 2 ** 52]) {
    const histogram = new Histogram();
    for (let i = 0; i < 3; i++) histogram.add(value);
    assert.equal(histogram.quantile(0.5), value);
  }
});

Deno.test("an empty histogram has no mean, negative times count as none", () => {
  const histogram = new Histogram();
  assert.equal(histogram.mean, null);
  assert.equal(histogram.quantile(0.5), null);
  histogram.add(-5);
  assert.equal(histogram.max, 0);
});

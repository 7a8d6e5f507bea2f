import assert from "node:assert/strict";
import type { Calibration } from "../../lib/machine/calibration.ts";
import { overheadOf } from "../../lib/session/prediction.ts";
import { predictedWith } from "./kept_calibration.ts";

Deno.test("prediction: of a run that knew another calibration what it would have predicted with this one", () => {
  const now: Calibration = { nop: 500, emulated: 1000, stepped: 9000, back: 400, printed: 0, measured: true };
  const kept = { ...now, emulated: 1500, back: 600 };
  const summary = (hits: number | null, predicted: number | null) => ({
    overhead: { predicted, measured: null, calibrated: true, bpftraceCpuSeconds: null, llmprofCpuSeconds: null },
    probes: [
      { name: "ggml/ops", site: "a", cost: "emulated", hits: 9000 },
      { name: "llama/calls", site: "b", cost: "emulated and back", hits },
      { name: "ggml/barrier", site: "c", cost: "nop", hits: null },
    ],
  });
  // In a second of CPU time.
  const then = overheadOf(9000 * 1000 + 1000 * 1400, 1e9)!, would = overheadOf(9000 * 1500 + 1000 * 2100, 1e9)!;
  assert.ok(Math.abs(predictedWith(kept, now, summary(1000, then))! - would) < 1e-12);
  assert.ok(Math.abs(predictedWith(now, now, summary(1000, then))! - then) < 1e-12);
  assert.equal(predictedWith(kept, now, summary(1000, null)), null);
});

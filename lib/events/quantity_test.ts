import assert from "node:assert/strict";
import type { Unit } from "./view.ts";
import { quantity } from "./quantity.ts";

const written: [Unit, ...[string | number | null, string][]][] = [
  ["ns", [0, "0 ns"], [850, "850 ns"], [999.4, "999 ns"], [999.6, "1.00 µs"], [1234, "1.23 µs"], [12_345, "12.3 µs"], [999_600, "1.00 ms"]],
  ["ns", [1_230_000, "1.23 ms"], [123_456_789, "123 ms"], [4.2134e9, "4.21 s"], [99.9e9, "99.9 s"], [99.96e9, "1 min 40 s"], [-1500, "-1.50 µs"]],
  ["ns", [125e9, "2 min 05 s"], [3600e9, "1 h 00 min"], [7384e9, "2 h 03 min"]],
  ["bytes", [0, "0 B"], [999, "999 B"], [1000, "1.0 kB"], [113_246_208, "113.2 MB"], [999_960, "1.0 MB"], [-4096, "-4.1 kB"], [8e9, "8.0 GB"]],
  ["count", [0, "0"], [999, "999"], [1000, "1,000"], [1_234_567, "1,234,567"], [2.25, "2.3"], [-12345, "-12,345"]],
  ["ratio", [0, "0.0 %"], [0.1234, "12.3 %"], [1, "100.0 %"], [0.00001, "<0.1 %"], [12.5, "1,250.0 %"]],
  ["per-second", [102.34, "102.3/s"], [1.5, "1.50/s"], [12_345.6, "12,345.6/s"]],
  ["bytes-per-second", [12.34e9, "12.3 GB/s"], [0, "0 B/s"]],
  ["flops-per-second", [45.67e9, "45.7 GFLOP/s"], [1.2e12, "1.2 TFLOP/s"]],
  ["text", [7, "7"], ["x", "x"], [null, "–"]],
  ["ns", [null, "–"], [NaN, "–"], ["none", "none"]],
];

Deno.test("figures are written with their unit and three digits or so", () => {
  for (const [unit, ...cases] of written) for (const [value, text] of cases) assert.equal(quantity(value, unit), text, `${value} ${unit}`);
});

import assert from "node:assert/strict";
import { parseNvidia } from "./gpu_readings.ts";

Deno.test("a line of nvidia-smi; what a GPU does not tell is not known, and what is no line is none", () => {
  assert.deepEqual(parseNvidia("1, 87, 41, 20511, 81559, 1755, 512.33, 64, 0x0000000000000024"), {
    gpu: 1,
    busy: 87,
    memoryBusy: 41,
    memoryUsed: 20511 * 2 ** 20,
    memoryTotal: 81559 * 2 ** 20,
    clock: 1755,
    power: 512.33,
    temperature: 64,
    throttled: ["power limit", "temperature"],
  });
  const idle = parseNvidia("0, [N/A], [N/A], 3, 11264, 300, [Not Supported], 31, 0x0000000000000001");
  assert.deepEqual([idle?.busy, idle?.memoryBusy, idle?.power, idle?.temperature, idle?.throttled], [null, null, null, 31, []]);
  for (const line of ["", "No devices were found", "x, 1, 2, 3, 4, 5, 6, 7, 0x0", "0, 1"]) assert.equal(parseNvidia(line), null, line);
});

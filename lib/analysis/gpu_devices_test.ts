import assert from "node:assert/strict";
import type { Counter, Instant } from "../events/span.ts";
import { Tracks } from "../events/tracks.ts";
import { GpuDevices } from "./gpu_devices.ts";

const tracks = new Tracks();
const counter = (name: string, value: number): Counter => ({ type: "counter", track: tracks.counter(0, name, "percent"), at: 0, value });
const throttled: Instant = {
  type: "instant",
  track: tracks.run(),
  name: "",
  category: "gpu.throttle",
  at: 0,
  args: { gpu: 1, reason: "power limit" },
};

Deno.test("gpu devices: means, and how many readings there were, also of what says nothing but why it is slow", () => {
  const devices = new GpuDevices();
  for (const busy of [20, 40]) devices.counter(counter("GPU 0: busy", busy));
  devices.counter(counter("memory of GPU 0", 7));
  for (let i = 0; i < 3; i++) devices.throttled(throttled);
  assert.deepEqual(devices.result().map(({ gpu, readings, busyPercent, throttled }) => [gpu, readings, busyPercent, throttled]), [
    [0, 2, 30, []],
    [1, 3, null, [{ reason: "power limit", readings: 3 }]],
  ]);
});

import assert from "node:assert/strict";
import { Devices } from "./devices.ts";

Deno.test("devices: a context that is popped gives way to the one before it", () => {
  const devices = new Devices();
  const now = (name: string, said: Readonly<Record<string, number>> = {}) => {
    devices.context(name, new Map(Object.entries(said)), 7, 8);
    return devices.of(7, 8).device;
  };
  assert.equal(now("cuCtxCreate", { device: 1, context: 0xa }), 1);
  assert.equal(now("cuCtxCreate", { device: 2, context: 0xb }), 2);
  assert.equal(now("cuCtxPushCurrent", { context: 0xa }), 1);
  assert.equal(now("cuCtxPopCurrent", { context: 0xa }), 2);
  assert.equal(now("cuCtxSetCurrent", { context: 0xa }), 1);
  assert.equal(now("cuCtxPopCurrent", { context: 0xa }), 1);
  assert.equal(now("cuCtxPopCurrent", { context: 0xa }), 0);
  devices.forget(7);
  assert.equal(now("cuCtxPushCurrent", { context: 0xb }), 0);
});

Deno.test("devices: what a program's own context held is gone with it, and what all share with a reset", () => {
  const devices = new Devices();
  const gone = (name: string, said: Readonly<Record<string, number>> = {}) => devices.context(name, new Map(Object.entries(said)), 7, 8);
  gone("cudaSetDevice", { device: 1 });
  assert.deepEqual(gone("cudaDeviceReset"), { device: 1, own: undefined });
  assert.deepEqual(gone("cuDevicePrimaryCtxReset", { device: 3 }), { device: 3, own: undefined });
  assert.equal(gone("cuDevicePrimaryCtxRelease", { device: 3 }), undefined, "others may have retained it");
  gone("cuCtxCreate", { device: 2, context: 0xa });
  assert.deepEqual(devices.of(7, 8), { device: 2, own: 0xa });
  assert.equal(gone("cudaDeviceReset"), undefined, "of another context than that which all share, the runtime forgets what it knew");
  assert.deepEqual(gone("cuDevicePrimaryCtxReset", { device: 2 }), { device: 2, own: undefined });
  assert.deepEqual(gone("hipDeviceReset"), { device: 2, own: undefined });
  assert.deepEqual(gone("cuCtxDestroy", { context: 0xa }), { device: 2, own: 0xa });
  assert.equal(devices.of(7, 8).device, 1, "one that was current gives way to the one before");
  assert.equal(gone("cuCtxDestroy", { context: 0xb }), undefined, "made before anybody looked");
});

import assert from "node:assert/strict";
import { Devices } from "./devices.ts";

Deno.test("devices: a context that is popped gives way to the one before it", () => {
  const devices = new Devices();
  const now = (name: string, said: Readonly<Record<string, number>> = {}) => {
    devices.context(name, new Map(Object.entries(said)), 7, 8);
    return devices.of(7, 8);
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

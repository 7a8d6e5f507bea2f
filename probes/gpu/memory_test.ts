import assert from "node:assert/strict";
import { type Block, HeldMemory } from "./memory.ts";

const block = (address: number, bytes: number, memory: Block["memory"] = "device", device = 0): Block => ({
  address,
  bytes,
  memory,
  device,
  at: 1,
  stack: undefined,
});

Deno.test("what is asked for twice is held once, and what is let go twice is let go once", () => {
  const held = new HeldMemory();
  assert.equal(held.hold(1, block(4096, 100)), true);
  assert.equal(held.hold(1, block(4096, 100)), false, "the runtime's call, behind the driver's");
  assert.equal(held.bytes(1, { device: 0, memory: "device" }), 100);
  assert.equal(held.release(1, 4096)?.bytes, 100);
  assert.equal(held.release(1, 4096), undefined);
  assert.equal(held.bytes(1, { device: 0, memory: "device" }), 0);
});

Deno.test("an address belongs to its process, and to the kind of memory that lies there", () => {
  const held = new HeldMemory();
  held.hold(1, block(4096, 100));
  held.hold(1, block(8192, 50, "host", -1));
  held.hold(2, block(4096, 7, "managed"));
  assert.deepEqual([held.at(1, 4195), held.at(1, 4196), held.at(1, 8192), held.at(2, 4100), held.at(3, 4096)], [
    "device",
    undefined,
    "host",
    "managed",
    undefined,
  ]);
  held.release(1, 4096);
  assert.equal(held.at(1, 4100), undefined);
});

Deno.test("a handle is no address, and what is held at the end is told once", () => {
  const held = new HeldMemory();
  held.hold(1, block(7, 100, "physical"));
  assert.equal(held.at(1, 50), undefined);
  held.hold(1, block(4096, 3));
  assert.equal(held.release(1, 7)?.memory, "physical");
  assert.deepEqual(held.forget(1).map(({ bytes }) => bytes), [3]);
  assert.deepEqual(held.forget(1), []);
  assert.equal(held.bytes(1, { device: 0, memory: "device" }), 0);
});

import assert from "node:assert/strict";
import { type Block, HeldMemory } from "./memory.ts";

const place = { device: 0, own: undefined };
const block = (address: number, bytes: number, memory: Block["memory"] = "device", device = 0, more: Partial<Block> = {}): Block => ({
  address,
  bytes,
  memory,
  device,
  place,
  at: 1,
  stack: undefined,
  ...more,
});

Deno.test("what is asked for twice is held once, and what is let go twice is let go once", () => {
  const held = new HeldMemory();
  assert.deepEqual(held.hold(1, block(4096, 100), 0), []);
  assert.equal(held.hold(1, block(4096, 100), 0), null, "the runtime's call, behind the driver's");
  assert.equal(held.bytes(1, { device: 0, memory: "device" }), 100);
  assert.equal(held.release(1, 4096, 9)?.bytes, 100);
  assert.equal(held.release(1, 4096, 9), undefined);
  assert.equal(held.bytes(1, { device: 0, memory: "device" }), 0);
});

Deno.test("an address belongs to its process, and to the kind of memory that lies there", () => {
  const held = new HeldMemory();
  held.hold(1, block(4096, 100), 0);
  held.hold(1, block(8192, 50, "host", -1), 0);
  held.hold(2, block(4096, 7, "managed"), 0);
  assert.deepEqual([held.at(1, 4195), held.at(1, 4196), held.at(1, 8192), held.at(2, 4100), held.at(3, 4096)], [
    { memory: "device", device: 0 },
    undefined,
    { memory: "host", device: -1 },
    { memory: "managed", device: 0 },
    undefined,
  ]);
  held.release(1, 4096, 9);
  assert.equal(held.at(1, 4100), undefined);
});

Deno.test("a handle is no address, and what is held at the end is told once", () => {
  const held = new HeldMemory();
  held.hold(1, block(7, 100, "physical"), 0);
  assert.equal(held.at(1, 50), undefined);
  held.hold(1, block(4096, 3), 0);
  assert.equal(held.release(1, 7, 9)?.memory, "physical");
  assert.deepEqual(held.forget(1).map(({ bytes }) => bytes), [3]);
  assert.deepEqual(held.forget(1), []);
  assert.equal(held.bytes(1, { device: 0, memory: "device" }), 0);
});

Deno.test("an address is given again: before the call that let it go has returned, or after one that nobody saw", () => {
  const held = new HeldMemory();
  const bytes = () => held.bytes(1, { device: 0, memory: "device" });
  held.hold(1, block(4096, 100, "device", 0, { at: 10 }), 9);
  // One thread frees from 20 to 30, another is given the address at 25.
  assert.deepEqual(held.hold(1, block(4096, 7, "device", 0, { at: 25 }), 24)?.map(({ bytes }) => bytes), [100]);
  assert.equal(bytes(), 7);
  assert.equal(held.release(1, 4096, 20), null, "that was the one before");
  assert.equal(held.release(1, 4096, 40)?.bytes, 7);
  assert.equal(held.release(1, 4096, 50), undefined);
});

Deno.test("what was asked for in a context is gone with that, and nothing else", () => {
  const held = new HeldMemory();
  const own = { device: 0, own: 0xa };
  held.hold(1, block(4096, 100, "device", 0, { place: own }), 0);
  held.hold(1, block(8192, 20, "host", -1, { place: own }), 0);
  held.hold(1, block(12288, 3), 0);
  held.hold(1, block(5, 77, "physical", 0, { place: own }), 0);
  held.hold(1, block(16384, 9, "pooled", 0, { place: own }), 0);
  held.hold(2, block(4096, 4, "device", 0, { place: own }), 0);
  assert.deepEqual(held.releaseAll(1, own, "cuda").map(({ bytes }) => bytes), [100, 20], "neither physical memory nor that of pools is a context's");
  assert.deepEqual([held.at(1, 4096), held.at(1, 12288), held.at(2, 4096)].map((lying) => lying?.memory), [undefined, "device", "device"]);
  assert.deepEqual(held.releaseAll(1, own, "cuda"), []);
  assert.deepEqual(held.releaseAll(1, own, "hip").map(({ bytes }) => bytes), [9], "HIP destroys a GPU's pools as it resets that");
  assert.deepEqual(held.forget(1).map(({ bytes }) => bytes), [3, 77]);
});

Deno.test("physical memory is held until it is neither mapped nor kept by a handle", () => {
  const held = new HeldMemory();
  const bytes = () => held.bytes(1, { device: 0, memory: "physical" });
  held.hold(1, block(7, 100, "physical"), 0);
  held.map(1, 0x10000, 100, 7);
  held.map(1, 0x20000, 100, 7);
  assert.equal(held.release(1, 7, 9), undefined, "as an engine does, which needs no handle any more");
  assert.equal(bytes(), 100);
  assert.deepEqual(held.unmap(1, 0x10000, 100), []);
  assert.deepEqual(held.unmap(1, 0x10000, 0x20000).map(({ bytes }) => bytes), [100]);
  assert.equal(bytes(), 0);
  // A handle that was released may be given again, while its memory is mapped.
  held.hold(1, block(8, 30, "physical"), 0);
  held.map(1, 0x30000, 100, 8);
  held.release(1, 8, 9);
  held.hold(1, block(8, 50, "physical"), 0);
  assert.equal(bytes(), 80);
  assert.deepEqual(held.unmap(1, 0x30000, 1).map(({ bytes }) => bytes), [30]);
  // It may be so before the release is told.
  held.map(1, 0x40000, 100, 8);
  assert.deepEqual(held.hold(1, block(8, 20, "physical", 0, { at: 25 }), 24), []);
  assert.equal(held.release(1, 8, 20), null);
  assert.deepEqual(held.unmap(1, 0x40000, 1).map(({ bytes }) => bytes), [50]);
  held.release(1, 8, 30);
  assert.equal(bytes(), 0);
  held.hold(1, block(8, 50, "physical"), 0);
  held.retain(1, 8);
  assert.equal(held.release(1, 8, 9), undefined);
  assert.equal(held.release(1, 8, 9)?.bytes, 50);
  assert.equal(held.release(1, 8, 9), undefined);
});

Deno.test("physical memory of the host is the host's where it is mapped; what is asked for and made of such memory is held once", () => {
  const held = new HeldMemory();
  held.reserve(1, 0x10000, 8192, true);
  assert.deepEqual(held.at(1, 0x10010), { memory: "physical", device: undefined });
  held.hold(1, block(7, 4096, "physical", -1), 0);
  held.hold(1, block(8, 4096, "physical"), 0);
  held.map(1, 0x10000, 4096, 7);
  held.map(1, 0x11000, 4096, 8);
  assert.deepEqual([held.at(1, 0x10010), held.at(1, 0x11010)], [{ memory: "host", device: -1 }, { memory: "physical", device: 0 }]);
  assert.equal(held.hold(1, block(0x11000, 4000), 0), null, "as NCCL does");
  assert.deepEqual([held.bytes(1, { device: 0, memory: "device" }), held.bytes(1, { device: 0, memory: "physical" })], [0, 4096]);
});

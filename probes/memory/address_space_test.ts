import assert from "node:assert/strict";
import { AddressSpace, FORMER } from "./address_space.ts";

const file = { id: "8:1", name: "a" }, other = { id: "8:2", name: "b" };

/** Pages of 16 from 0 on, by the file that is there and the offset in it. */
function pages(space: AddressSpace, when?: number): string {
  return Array.from({ length: 12 }, (_, page) => {
    const at = page * 16, { mapping } = space.at(at, when);
    return mapping ? `${mapping.file?.name ?? "-"}${(at - mapping.from + mapping.offset) / 16}` : ".";
  }).join(" ");
}

Deno.test("address space: what is mapped over something takes its place, and the rest keeps its offsets", () => {
  const space = new AddressSpace();
  space.map({ from: 32, to: 160, offset: 0, file });
  assert.equal(pages(space), ". . a0 a1 a2 a3 a4 a5 a6 a7 . .");
  space.map({ from: 64, to: 96, offset: 320, file: other });
  assert.equal(pages(space), ". . a0 a1 b20 b21 a4 a5 a6 a7 . .");
  space.map({ from: 0, to: 48, offset: 0 });
  assert.equal(pages(space), "-0 -1 -2 a1 b20 b21 a4 a5 a6 a7 . .");
  space.unmap(80, 112);
  assert.equal(pages(space), "-0 -1 -2 a1 b20 . . a5 a6 a7 . .");
  const copy = space.copy();
  space.unmap(0, 1000);
  assert.equal(pages(space), ". . . . . . . . . . . .");
  assert.equal(pages(copy), "-0 -1 -2 a1 b20 . . a5 a6 a7 . .");
});

Deno.test("address space: what is moved keeps its place in the file, and may grow", () => {
  const space = new AddressSpace();
  space.map({ from: 0, to: 64, offset: 16, file });
  space.move(16, 32, 96, 64);
  assert.equal(pages(space), "a1 . . a4 . . a2 a3 a4 a5 . .");
  space.move(96, 64, 96, 32);
  assert.equal(pages(space), "a1 . . a4 . . a2 a3 . . . .");
  // Nobody saw what was there.
  space.move(32, 16, 112, 16);
  assert.equal(pages(space), "a1 . . a4 . . a2 . . . . .");
});

Deno.test("address space: up to where it is so", () => {
  const space = new AddressSpace();
  assert.equal(space.at(5).to, Infinity);
  space.map({ from: 32, to: 64, offset: 0, file });
  assert.deepEqual([0, 31, 32, 63, 64].map((at) => space.at(at).to), [32, 32, 64, 64, Infinity]);
});

Deno.test("address space: what lay there before, by when it was so, and up to where", () => {
  const space = new AddressSpace();
  // Of what a look found nobody knows since when.
  space.map({ from: 0, to: 32, offset: 0, file });
  space.map({ from: 64, to: 128, offset: 0, file }, 10);
  space.map({ from: 96, to: 144, offset: 0, file: other }, 20);
  space.unmap(16, 80, 30);
  space.move(80, 16, 160, 32, 40);
  space.unmap(0, Infinity, 50);
  space.map({ from: 16, to: 32, offset: 64 }, 60);
  assert.deepEqual([5, 10, 20, 30, 40, 50, 60].map((when) => pages(space, when)), [
    "a0 a1 . . . . . . . . . .",
    "a0 a1 . . a0 a1 a2 a3 . . . .",
    "a0 a1 . . a0 a1 b0 b1 b2 . . .",
    "a0 . . . . a1 b0 b1 b2 . . .",
    "a0 . . . . . b0 b1 b2 . a1 a2",
    ". . . . . . . . . . . .",
    ". -4 . . . . . . . . . .",
  ]);
  assert.equal(pages(space), ". -4 . . . . . . . . . .");
  assert.deepEqual([0, 64, 100, 200].map((at) => space.at(at, 25).to), [16, 80, 144, Infinity]);
});

Deno.test("address space: of what lay there before the last is known, however often it changes", () => {
  const space = new AddressSpace();
  for (let when = 1; when <= 2 * FORMER; when++) space.map({ from: 0, to: 16, offset: when, file }, when);
  assert.equal(space.at(0, 2 * FORMER - 5.5).mapping?.offset, 2 * FORMER - 6);
  assert.notEqual(space.at(0, 5.5).mapping?.offset, 5);
});

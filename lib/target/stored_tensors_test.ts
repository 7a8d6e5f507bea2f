import assert from "node:assert/strict";
import { ggufHeader, type GgufTensor } from "../../tests/workloads/gguf.ts";
import { readStoredTensors } from "./stored_tensors.ts";

const reader = (file: Uint8Array) => (offset: number, length: number) => Promise.resolve(file.slice(offset, offset + length));
const tensors: GgufTensor[] = [
  { name: "token_embd.weight", extents: [64, 3], type: "f32" },
  { name: "blk.0.ffn_down.weight", extents: [32, 3], type: "q4_0" },
  { name: "output.weight", extents: [1], type: "f32" },
];

function safetensors(header: object): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(header));
  const file = new Uint8Array(8 + json.length + 64);
  new DataView(file.buffer).setBigUint64(0, BigInt(json.length), true);
  file.set(json, 8);
  return file;
}

Deno.test("stored tensors: of a GGUF file, behind values of every kind, each where its data begins", async () => {
  const words = Array.from({ length: 100_000 }, (_, i) => `a word of a vocabulary that is longer than the first read, number ${i}`);
  for (const texts of [["a", "b"], words]) {
    const header = ggufHeader(
      { name: { text: "x" }, heads: { u32: 7 }, words: { texts }, scores: { f32s: [1, 2, 3] }, kinds: { i32s: [1] } },
      tensors,
    );
    // 64 × 3 numbers of 4 bytes, and 3 blocks of 18 to the next multiple of 32.
    const offsets = [0, 768, 768 + 64].map((offset) => header.length + offset);
    assert.deepEqual(await readStoredTensors(reader(header)), tensors.map(({ name }, i) => ({ name, offset: offsets[i] })));
  }
});

Deno.test("stored tensors: of a safetensors file, in the order of their data", async () => {
  const range = (from: number, to: number) => ({ dtype: "F32", shape: [1], data_offsets: [from, to] });
  const file = safetensors({ __metadata__: { format: "pt" }, "b.weight": range(8, 16), "a.weight": range(0, 8) });
  const data = file.length - 64;
  assert.deepEqual(await readStoredTensors(reader(file)), [{ name: "a.weight", offset: data }, { name: "b.weight", offset: data + 8 }]);
});

Deno.test("stored tensors: none of any other file, and none of one that is damaged wherever that is", async () => {
  const header = ggufHeader({ name: { text: "x" }, words: { texts: ["a", "b"] } }, tensors);
  // The last 31 bytes at most are what fills it up.
  for (let end = 0; end < header.length - 31; end++) assert.equal(await readStoredTensors(reader(header.slice(0, end))), null, `cut at ${end}`);
  for (let at = 4; at < header.length; at++) {
    const mutated = header.slice();
    mutated[at] = 0xff;
    const told = await readStoredTensors(reader(mutated));
    assert.ok(told === null || told.length <= tensors.length, `byte ${at}`);
  }
  for (const file of [new Uint8Array(), new TextEncoder().encode("{}".repeat(20)), safetensors([1, { data_offsets: "x" }, null])]) {
    assert.deepEqual(await readStoredTensors(reader(file)) ?? [], []);
  }
});

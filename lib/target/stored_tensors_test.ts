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

Deno.test("stored tensors: of a file of more than can be told, neighbours by module, the deepest first", async () => {
  const told = async (experts: number) => {
    const parts = ["gate_proj.qweight", "gate_proj.scales", "up_proj.qweight", "up_proj.scales"];
    const inExperts = Array.from({ length: experts }, (_, expert) => parts.map((part) => `experts.${expert}.${part}`)).flat();
    const names = [0, 1].flatMap((layer) => [...inExperts, "gate.weight", "gate.bias"].map((name) => `layers.${layer}.mlp.${name}`));
    const entries = [...names, "lm_head.weight"].map((name, i) => [name, { data_offsets: [8 * i, 8 * i + 8] }]);
    const file = safetensors(Object.fromEntries(entries)), data = file.length - 64;
    return (await readStoredTensors(reader(file)))!.map(({ name, offset }) => `${name} ${(offset - data) / 8}`);
  };
  assert.deepEqual((await told(2400)).slice(0, 2), ["layers.0.mlp.experts.0.gate_proj.qweight 0", "layers.0.mlp.experts.0.gate_proj.scales 1"]);
  const byProjection = await told(3000);
  assert.deepEqual([byProjection.length, ...byProjection.slice(0, 3)], [
    2 * (2 * 3000 + 2) + 1,
    "layers.0.mlp.experts.0.gate_proj.* 0",
    "layers.0.mlp.experts.0.up_proj.* 2",
    "layers.0.mlp.experts.1.gate_proj.* 4",
  ]);
  assert.deepEqual(byProjection.slice(-3), ["layers.1.mlp.gate.weight 24002", "layers.1.mlp.gate.bias 24003", "lm_head.weight 24004"]);
  assert.deepEqual(await told(12_000), [
    "layers.0.mlp.experts.* 0",
    "layers.0.mlp.gate.* 48000",
    "layers.1.mlp.experts.* 48002",
    "layers.1.mlp.gate.* 96002",
    "lm_head.weight 96004",
  ]);
  const flat = Array.from({ length: 20_001 }, (_, i) => [`a${i}`, { data_offsets: [i, i + 1] }]);
  assert.equal(await readStoredTensors(reader(safetensors(Object.fromEntries(flat)))), null);
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

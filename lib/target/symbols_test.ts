import assert from "node:assert/strict";
import { makeElf } from "../../tests/harness/elf.ts";
import { type ByteReader, readElf } from "./elf.ts";
import { findSymbols, type NameTest, type Wanted } from "./symbols.ts";

const bytes = makeElf({ cuInit: "90", cudaMalloc: "90", cu: "90", vkInit: "90", c: "90" });
const read: ByteReader = (at, length) => Promise.resolve(bytes.slice(at, at + length));

async function found(wanted: Wanted): Promise<string[]> {
  return [...(await findSymbols((await readElf(read))!, wanted)).functions.keys()].sort();
}

Deno.test("symbols: a test that says how its names begin finds what it accepts, beside names and other tests", async () => {
  const decoded: string[] = [];
  const ofCuda: NameTest = Object.assign((name: string) => decoded.push(name) > 0 && /^cu./.test(name), { begins: ["cu"] });
  assert.deepEqual(await found([ofCuda]), ["cuInit", "cudaMalloc"]);
  assert.deepEqual(decoded.sort(), ["cu", "cuInit", "cudaMalloc"], "nothing else is looked at");
  assert.deepEqual(await found([ofCuda, "vkInit"]), ["cuInit", "cudaMalloc", "vkInit"]);
  assert.deepEqual(await found([ofCuda, (name) => name === "c"]), ["c", "cuInit", "cudaMalloc"]);
});

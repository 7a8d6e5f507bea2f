import assert from "node:assert/strict";
import { mustRun } from "../../tests/harness/command.ts";
import { deafBpftrace } from "../../tests/harness/deaf_bpftrace.ts";
import { kernelTest, matrixTest } from "../../tests/harness/kernel.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { readBuildId } from "../target/build_id.ts";
import { readElf } from "../target/elf.ts";
import { SymbolTables, trySymbolTables } from "./symbol_tables.ts";

const buildId = Uint8Array.fromHex("040000000400000003000000474e55000123abcd");
const place = { file: "/proc/7/map_files/1000-2000", buildId, arch: "x86_64", name: "llmprof_f_4", address: 0x1004 } as const;

/** As binutils read it. */
async function names(path: string): Promise<string[]> {
  return (await mustRun(["nm", path])).stdout.trimEnd().split("\n");
}

kernelTest("symbol tables: a file for each file, in a folder that nobody else can look into, until it is removed", { root: true }, async () => {
  using tables = new SymbolTables();
  const root = tables.root;
  assert.equal(tables.environment.BCC_SYMFS, root);
  assert.equal(Deno.statSync(root).mode! & 0o777, 0o700);
  tables.add([place, { ...place, file: "/opt/lib x.so", buildId: null }]);
  tables.add([{ ...place, name: "llmprof_g_0", address: 0x2000 }, { ...place, address: 0x1008 }]);
  const path = `${root}${place.file}`;
  assert.deepEqual(await names(path), ["0000000000001008 A llmprof_f_4", "0000000000002000 A llmprof_g_0"]);
  const bytes = Deno.readFileSync(path);
  const elf = await readElf((at, length) => Promise.resolve(bytes.subarray(at, at + length)));
  assert.equal(elf!.machine, "x86_64");
  assert.equal(await readBuildId(elf!), "0123abcd");
  // Another file at that path has none of the names of the one before.
  tables.add([{ ...place, buildId: null, name: "llmprof_h_0" }]);
  assert.deepEqual(await names(path), ["0000000000001004 A llmprof_h_0"]);
  assert.deepEqual(await names(`${root}/opt/lib x.so`), ["0000000000001004 A llmprof_f_4"]);
  tables.remove();
  assert.throws(() => Deno.statSync(root), Deno.errors.NotFound);
  tables.remove();
  // Somebody else tidied up.
  Deno.removeSync(tables.root);
});

matrixTest("symbol tables: this bpftrace places probes at what they name, and one that is told of none does not", {}, async ({ name, path }) => {
  assert.deepEqual(await trySymbolTables(path), { finds: name === "0.20" ? "patterns" : "whole", error: "" });
  using folder = temporary();
  for (const none of [deafBpftrace(path, folder), folder.file("none")]) assert.deepEqual(await trySymbolTables(none), { finds: "none", error: "" });
});

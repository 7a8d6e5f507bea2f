import assert from "node:assert/strict";
import { FolderFiles } from "../../tests/harness/folder_files.ts";
import { runChild } from "../machine/child.ts";
import { ReaderFiles } from "../machine/reader_files.ts";
import { readBuildId, readDebugFile } from "./build_id.ts";
import { type ByteReader, type ElfFile, fileReader, offsetOf, readElf } from "./elf.ts";
import { readOperatorNames, readPointerTable, searchOperatorNames } from "./string_table.ts";
import { findSymbols } from "./symbols.ts";

const source = `
static const char * GGML_OP_NAME[3] = { "NONE", "DUP", "MUL_MAT" };
static const char * names[2] = { "first", "second" };
const char * ggml_op_name(unsigned op) { return GGML_OP_NAME[op]; }
const char * second(unsigned i) { return names[i]; }
static int hidden(int x) { return x + 1; }
__attribute__((weak)) int faint(void) { return 3; }
extern int elsewhere(int);
int (*pointer)(int) = hidden;
int table[5] = { 1, 2, 3, 4, 5 };
int shown(int x) { return pointer(x) + elsewhere(x); }
`;

const hasCompiler = (await runChild({ program: "gcc", args: ["--version"] })).code === 0;
const compiled = { ignore: !hasCompiler, why: hasCompiler ? "" : " (skipped: no gcc on this machine)" };

function compile(dir: string, name: string, ...flags: string[]): Promise<Uint8Array> {
  return compileText(source, dir, name, "-shared", ...flags);
}

async function compileText(text: string, dir: string, name: string, ...flags: string[]): Promise<Uint8Array> {
  await Deno.writeTextFile(`${dir}/source.c`, text);
  const path = `${dir}/${name}`;
  const { code, stderr } = await runChild({
    program: "gcc",
    args: ["-O2", "-fPIC", "-Wl,--build-id=sha1", ...flags, "-o", path, `${dir}/source.c`],
  });
  assert.equal(code, 0, stderr);
  return await Deno.readFile(path);
}

/** Names a test that needs the compiler, and gives it a folder. */
function compilerTest(name: string, run: (dir: string) => Promise<void>): void {
  Deno.test({
    name: `elf: ${name}${compiled.why}`,
    ignore: compiled.ignore,
    fn: async () => {
      const dir = await Deno.makeTempDir();
      try {
        await run(dir);
      } finally {
        await Deno.remove(dir, { recursive: true });
      }
    },
  });
}

function over(bytes: Uint8Array): ByteReader {
  return (offset, length) => Promise.resolve(bytes.slice(offset, offset + length));
}

async function open(bytes: Uint8Array): Promise<ElfFile> {
  const elf = await readElf(over(bytes));
  assert.ok(elf);
  return elf;
}

compilerTest("functions and objects of a library, by name", async (dir) => {
  const elf = await open(await compile(dir, "lib.so"));
  assert.equal(elf.machine, Deno.build.arch);
  const { functions, objects } = await findSymbols(elf, ["shown", "hidden", "faint", "elsewhere", "show", "shownn", "table", "GGML_OP_NAME"]);
  assert.deepEqual([...functions].map(([name, { binding }]) => `${name} ${binding}`).sort(), ["faint weak", "hidden local", "shown global"]);
  assert.deepEqual([...objects].map(([name, { binding, size }]) => `${name} ${binding} ${size}`).sort(), [
    "GGML_OP_NAME local 24",
    "table global 20",
  ]);
  assert.ok(functions.get("shown")!.size > 0);
});

compilerTest("a predicate finds the same symbols, and a stripped library keeps what it exports", async (dir) => {
  const elf = await open(await compile(dir, "lib.so", "-s"));
  const { functions } = await findSymbols(elf, [(name) => !name.startsWith("_")]);
  assert.deepEqual([...functions.keys()].sort(), ["faint", "ggml_op_name", "second", "shown"]);
});

compilerTest("names and tests of names are looked for together", async (dir) => {
  const elf = await open(await compile(dir, "lib.so"));
  const { functions, objects } = await findSymbols(elf, ["shown", (name) => name.startsWith("fain"), "table", (name) => name === "hidden"]);
  assert.deepEqual([...functions.keys(), ...objects.keys()].sort(), ["faint", "hidden", "shown", "table"]);
});

compilerTest("the place of a function in the file holds its instructions", async (dir) => {
  const bytes = await compile(dir, "lib.so", "-Wl,-z,separate-code");
  const elf = await open(bytes);
  const { value } = (await findSymbols(elf, ["table"])).objects.get("table")!;
  const at = offsetOf(elf, value)!;
  assert.notEqual(at, value, "a data segment is loaded elsewhere than it stands in the file");
  assert.deepEqual([...new Uint32Array(bytes.slice(at, at + 20).buffer)], [1, 2, 3, 4, 5]);
  assert.equal(offsetOf(elf, 2 ** 40), null);
});

compilerTest("build id and the separate debug file", async (dir) => {
  const elf = await open(await compile(dir, "lib.so"));
  const id = (await readBuildId(elf))!;
  assert.match(id, /^[0-9a-f]{40}$/);
  const without = await open(await compile(dir, "none.so", "-Wl,--build-id=none"));
  assert.equal(await readBuildId(without), null);
  const path = `/usr/lib/debug/.build-id/${id.slice(0, 2)}/${id.slice(2)}.debug`;
  await Deno.mkdir(dir + path.slice(0, path.lastIndexOf("/")), { recursive: true });
  const files = new FolderFiles(dir);
  const debug = async () => (await readDebugFile(files, 7, elf))?.sections.length;
  assert.equal(await debug(), undefined);
  await Deno.writeFile(dir + path, await compile(dir, "other.so", "-DOTHER=1", "-Wl,--build-id=none"));
  assert.equal(await debug(), undefined, "a file of that name that is of another build");
  await Deno.writeFile(dir + path, await compile(dir, "lib.so"));
  assert.equal(await debug(), elf.sections.length);
  await Deno.rename(dir + path, `${dir}/kept`);
  await Deno.mkdir(`${dir}/proc/7/root${path.slice(0, path.lastIndexOf("/"))}`, { recursive: true });
  await Deno.rename(`${dir}/kept`, `${dir}/proc/7/root${path}`);
  assert.equal(await debug(), elf.sections.length, "in the root of the process");
});

compilerTest("the strings of a table of pointers, with plain and with packed relocations", async (dir) => {
  for (const flags of [[], ["-Wl,-z,pack-relative-relocs"], ["-O0"]]) {
    const elf = await open(await compile(dir, "lib.so", ...flags));
    assert.deepEqual(await readPointerTable(elf, "GGML_OP_NAME"), ["NONE", "DUP", "MUL_MAT"], flags.join());
    assert.deepEqual(await readOperatorNames(elf), ["NONE", "DUP", "MUL_MAT"]);
    assert.equal(await readPointerTable(elf, "no such table"), null);
    assert.equal(await readPointerTable(elf, "table"), null, "numbers are no strings");
  }
});

compilerTest("a stripped table is found through the function that reads it", async (dir) => {
  for (const flags of [["-s"], ["-s", "-fcf-protection=full"], ["-s", "-Wl,-z,pack-relative-relocs"]]) {
    const elf = await open(await compile(dir, "lib.so", ...flags));
    assert.equal(await readPointerTable(elf, "GGML_OP_NAME"), null);
    assert.deepEqual((await readOperatorNames(elf))?.slice(0, 3), ["NONE", "DUP", "MUL_MAT"], flags.join());
  }
});

compilerTest("damaged headers and tables end in null or in less, never in an error or a long search", async (dir) => {
  const whole = await compile(dir, "lib.so");
  // A linear congruential generator: the same damage in each run.
  let seed = 20;
  const random = (below: number) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
  const sections = new DataView(whole.buffer).getUint32(40, true);
  for (let round = 0; round < 400; round++) {
    const bytes = whole.slice();
    for (let i = 0; i < 6; i++) {
      const place = [random(64), 64 + random(600), sections + random(bytes.length - sections), random(bytes.length)][random(4)]!;
      bytes[place] = [0, 0xff, 0x7f, random(256)][random(4)]!;
    }
    const elf = await readElf(over(round % 4 === 0 ? bytes.slice(0, random(bytes.length)) : bytes));
    if (!elf) continue;
    await findSymbols(elf, ["shown", "GGML_OP_NAME"]);
    await findSymbols(elf, [(name) => name === "shown"]);
    await readOperatorNames(elf);
    await readBuildId(elf);
  }
});

Deno.test("elf: what is none is null", async () => {
  for (const bytes of [new Uint8Array(), new Uint8Array(64), new TextEncoder().encode("#!/bin/sh\n".repeat(20))]) {
    assert.equal(await readElf(over(bytes)), null);
  }
  assert.equal(await readElf(() => Promise.resolve(null)), null);
  // A 32-bit file, and a big-endian one.
  for (const [kind, order] of [[1, 1], [2, 2]]) {
    assert.equal(await readElf(over(Uint8Array.from({ length: 64 }, (_, i) => [0x7f, 0x45, 0x4c, 0x46, kind!, order!][i] ?? 0))), null);
  }
});

Deno.test("elf: a program of this machine is loaded from its file", async () => {
  const elf = await readElf(fileReader(new ReaderFiles(), await Deno.realPath("/bin/sh")));
  assert.ok(elf!.segments.some(({ address }) => offsetOf(elf!, address) !== null));
});

Deno.test("elf: more sections than the header can count", async () => {
  // A header, the first section with the true count and index of names, then the section of names, then the names.
  const bytes = new Uint8Array(64 + 3 * 64 + 16);
  const view = new DataView(bytes.buffer);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
  view.setUint16(18, 183, true);
  view.setUint32(40, 64, true);
  view.setUint16(58, 64, true);
  view.setUint16(62, 0xffff, true);
  view.setUint32(64 + 32, 3, true);
  view.setUint32(64 + 40, 2, true);
  view.setUint32(128, 1, true);
  view.setUint32(192 + 24, 256, true);
  view.setUint32(192 + 32, 16, true);
  bytes.set(new TextEncoder().encode("\0.text\0"), 256);
  const elf = (await readElf(over(bytes)))!;
  assert.equal(elf.machine, "aarch64");
  assert.deepEqual(elf.sections.map(({ name }) => name), ["", ".text", ""]);
  view.setUint32(64 + 32, 70_000, true);
  assert.equal(await readElf(over(bytes)), null, "more than any file has");
  view.setUint32(64 + 32, 0, true);
  assert.equal(await readElf(over(bytes)), null);
  view.setUint32(40, 0, true);
  assert.deepEqual((await readElf(over(bytes)))!.sections, [], "no section headers at all");
});

const engine = Deno.env.get("LLMPROF_TEST_GGML") ?? "";
Deno.test({
  name: `elf: operator names of a real libggml-base${engine ? "" : " (skipped: LLMPROF_TEST_GGML names none)"}`,
  ignore: engine === "",
  fn: async () => {
    const elf = (await readElf(fileReader(new ReaderFiles(), engine)))!;
    const names = (await readOperatorNames(elf))!;
    assert.deepEqual(names.slice(0, 3), ["NONE", "DUP", "ADD"]);
    assert.ok(names.includes("MUL_MAT_ID") && names.length > 80 && names.length < 200);
    // The same without the symbol: as if the library were stripped.
    const stripped = { ...elf, sections: elf.sections.map((section) => section.name === ".symtab" ? { ...section, type: 0 } : section) };
    assert.deepEqual((await readOperatorNames(stripped))?.slice(0, names.length), names);
  },
});

compilerTest("a table that nothing names is the one whose pointers begin as it does", async (dir) => {
  const names = ["NONE", "DUP", "ADD", ...Array.from({ length: 60 }, (_, i) => `OP_${i}`)];
  const array = (name: string, all: readonly string[]) => `static const char *${name}[] = { ${all.map((text) => `"${text}"`).join(", ")} };`;
  const text = `
${array("decoy", ["NONE", "DUP", "MUL"])}
${array("longer", ["A_NONE", ...names.slice(1)])}
${array("few", names.slice(0, 5))}
${array("real", [...names, "x+y"])}
const char *of(int which, unsigned i) { return (which == 0 ? decoy : which == 1 ? longer : which == 2 ? few : real)[i]; }
int main(int count, char **all) { return of(count, (unsigned)all[0][0]) != 0; }
`;
  const kinds = {
    "lib.so": ["-shared", "-s"],
    "packed.so": ["-shared", "-s", "-Wl,-z,pack-relative-relocs"],
    pie: ["-pie", "-s"],
    fixed: ["-static", "-no-pie", "-fno-pie", "-s"],
  };
  for (const [name, flags] of Object.entries(kinds)) {
    const elf = await open(await compileText(text, dir, name, ...flags));
    assert.equal(await readOperatorNames(elf), null);
    assert.deepEqual(await searchOperatorNames(elf), names, name);
  }
  const elf = await open(await compile(dir, "other.so", "-s"));
  assert.equal(await searchOperatorNames(elf), null, "too short to be ggml's");
});

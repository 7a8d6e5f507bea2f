import assert from "node:assert/strict";
import { makeElf } from "../../tests/harness/elf.ts";
import { isOperator } from "../../probes/torch/library.ts";
import { ops } from "../../probes/torch/ops.ts";
import { readElf } from "../target/elf.ts";
import { findSymbols } from "../target/symbols.ts";
import type { FoundLibrary } from "./found_libraries.ts";
import { sitesIn } from "./library_sites.ts";
import type { SiteParam } from "./probe.ts";

const host = { symbols: true, offsets: true, kernel: "6.18.44", arch: "x86_64" } as const;
const names = ["_ZN2at4_ops1a4callEv", "_ZN2at4_ops1b4callEv", "_ZN2at4_ops1c4callEv"];
const entry = { type: "site", at: "entry" } as const;
const { call, back } = ops([...names, "_ZN2at4_ops4gone4callEv"]).params as Record<string, SiteParam>;

/** A library whose functions begin with `endbr64; push`, `push`, and `sub`, which is stepped. */
async function library(
  code: Record<string, string> = { [names[0]!]: "f3 0f 1e fa 55", [names[1]!]: "55", [names[2]!]: "48 83 ec 08" },
): Promise<FoundLibrary> {
  const bytes = makeElf(code);
  const elf = (await readElf((at, length) => Promise.resolve(bytes.slice(at, at + length))))!;
  const { functions } = await findSymbols(elf, [isOperator]);
  return {
    key: "8:1",
    dev: 8,
    inode: 1,
    name: "libtorch_cpu.so",
    path: "/x/libtorch_cpu.so",
    file: "/x/libtorch_cpu.so",
    elf,
    buildId: null,
    functions,
    isProgram: false,
    isPart: false,
  };
}

Deno.test("sites: many functions have one attach point where llmprof names their places, entries apart from returns", async () => {
  const found = await library();
  const [entry, ...others] = await sitesIn(found, call!, host, names);
  const [exit, ...more] = await sitesIn(found, back!, host);
  assert.deepEqual([others, more], [[], []]);
  assert.equal(entry!.attach, 'uprobe:"/x/libtorch_cpu.so":"llmprof_torch_entry_*"');
  assert.equal(exit!.attach, 'uretprobe:"/x/libtorch_cpu.so":"llmprof_torch_return_*"');
  assert.deepEqual([entry!.label, exit!.label], ["libtorch_cpu.so: 3 functions", "return of libtorch_cpu.so: 3 functions"]);
  assert.deepEqual([entry!.cost, exit!.cost], ["shared with its return", "stepped and back"], "as if each were the dearest");
  assert.deepEqual(exit!.places.map(({ address }) => address), [0x1004, 0x1040, 0x1080]);
  const all = [...entry!.places, ...exit!.places];
  assert.equal(new Set(all.map(({ name }) => name)).size, 6);
  for (const { name } of all) assert.match(name, /^llmprof_torch_(entry|return)_[0-9a-f]+$/);
});

Deno.test("sites: all functions that a test accepts, and for a person the pattern that they share", async () => {
  const found = await library();
  const every = ops().params as Record<string, SiteParam>;
  const own = await Promise.all([sitesIn(found, every.call!, host, every.back!.functions.flat()), sitesIn(found, every.back!, host)]);
  assert.deepEqual(own.flat().flatMap(({ byHand }) => byHand), [
    'uprobe:"/x/libtorch_cpu.so":"_ZN2at4_ops*4callE*"',
    'uretprobe:"/x/libtorch_cpu.so":"_ZN2at4_ops*4callE*"',
  ]);
  const named = await Promise.all([sitesIn(found, call!, host, names), sitesIn(found, back!, host)]);
  assert.deepEqual(own.flat().map((site) => ({ ...site, byHand: [] })), named.flat().map((site) => ({ ...site, byHand: [] })));
});

Deno.test("sites: the code of many functions is read in one go, and each is classified by its own", async () => {
  const many = Array.from(
    { length: 100 },
    (_, i) => [`_ZN2at4_ops3x${String(i).padStart(2, "0")}4callEv`, i % 3 === 0 ? "48 83 ec 08" : "55"] as const,
  );
  const found = await library(Object.fromEntries(many));
  let reads = 0;
  const elf = { ...found.elf, read: (at: number, length: number) => (reads++, found.elf.read(at, length)) };
  const [entry] = await sitesIn({ ...found, elf }, { ...call!, functions: [isOperator], together: undefined }, { ...host, symbols: false });
  const sites = await sitesIn({ ...found, elf }, { ...call!, functions: [isOperator], together: undefined }, host);
  assert.deepEqual([reads, sites.length, entry!.label], [2, 100, `libtorch_cpu.so:${many[0]![0]}`]);
  assert.deepEqual(sites.map(({ cost }) => cost), many.map((_, i) => i % 3 === 0 ? "stepped" : "emulated"));
});

Deno.test("sites: without names of its own each function has its attach point", async () => {
  const found = await sitesIn(await library(), call!, { ...host, symbols: false });
  assert.deepEqual(found.map(({ attach, places }) => [attach, places.length]), [
    [`uprobe:"/x/libtorch_cpu.so":"${names[0]}"+4`, 0],
    [`uprobe:"/x/libtorch_cpu.so":"${names[1]}"`, 0],
    [`uprobe:"/x/libtorch_cpu.so":"${names[2]}"`, 0],
  ]);
});

Deno.test("library sites: where a bpftrace finds patterns alone, each place has one that is no beginning of another's", async () => {
  const found = await sitesIn(await library(), { ...call!, together: undefined }, { ...host, patterns: true });
  const all = found.flatMap(({ attach, places }) => [attach.slice(attach.lastIndexOf(":") + 1), ...places.map(({ name }) => name)]);
  assert.deepEqual(all.slice(0, 2), [`"llmprof_${names[0]}_4.*"`, `llmprof_${names[0]}_4.`]);
  assert.ok(found.every(({ attach, places }) => attach.endsWith(`:"${places[0]!.name}*"`)));
});

Deno.test("sites: what says nothing without other functions is placed where the library has them all", async () => {
  const found = await library({ [names[0]!]: "55", [names[1]!]: "55" });
  const placed = async (...others: string[]) => (await sitesIn(found, { ...entry, functions: [[names[0]!]], with: others }, host)).length;
  assert.deepEqual([await placed(names[0]!, names[1]!), await placed(names[1]!, names[2]!)], [1, 0]);
});

Deno.test("sites: what is compiled together with its callers is seen at what they may call of it, too", async () => {
  const found = { ...await library({ [names[0]!]: "55", [names[1]!]: "55" }), name: "engine.node" };
  const params: SiteParam[] = [{ ...entry, functions: [[names[0]!]] }, { ...entry, functions: [[names[1]!]], part: true }];
  const placed = async (isPart: boolean) => {
    const sites = await Promise.all(params.map((param) => sitesIn({ ...found, isPart }, param, host)));
    return sites.flat().map(({ functions }) => functions[0]!.name);
  };
  assert.deepEqual(await placed(false), [names[0]]);
  assert.deepEqual(await placed(true), names.slice(0, 2));
});

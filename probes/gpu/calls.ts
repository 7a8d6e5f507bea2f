import type { Field } from "../../lib/events/event.ts";
import type { LibraryNeed, Param, Probe } from "../../lib/programs/probe.ts";
import { TEXT_BYTES } from "../../lib/programs/schema.ts";
import { silent } from "../../lib/programs/silent.ts";
import type { NameTest } from "../../lib/target/symbols.ts";
import { caller, ip, popped } from "../process/registers.ts";
import { frameRecord, MOST_FRAMES, withStacks } from "../process/stack.ts";
import template from "./calls.bt" with { type: "text" };
import { tellMore } from "./long_name.ts";
import { beginsOf, type Family, givesAddresses, type Kind, type Signature, signatureOf, signaturesOf, WORDS } from "./signatures.ts";

/** Where each family's functions are. `symbols`: without these it is another library, or a program into which none is linked. */
const LIBRARIES: Readonly<Record<Family, { readonly what: string; readonly library: LibraryNeed }>> = {
  cuda: { what: "CUDA's driver", library: { prefix: "libcuda.", symbols: ["cuInit"], ready: "mapped", apart: true, each: true } },
  cudart: { what: "CUDA's runtime", library: { prefix: "libcudart", symbols: ["cudaMalloc"], ready: "mapped", inside: "kept", each: true } },
  nccl: { what: "NCCL", library: { prefix: "libnccl", symbols: ["ncclGetUniqueId"], ready: "mapped", apart: true, each: true } },
  hip: { what: "HIP", library: { prefix: "libamdhip64", symbols: ["hipMalloc"], ready: "mapped", apart: true, each: true } },
  vulkan: { what: "Vulkan", library: { prefix: "libvulkan.", symbols: ["vkQueueSubmit"], ready: "mapped", apart: true, each: true } },
  tensorrt: {
    what: "TensorRT",
    library: { prefix: "libnvinfer.", symbols: ["createInferRuntime_INTERNAL"], ready: "mapped", apart: true, each: true },
  },
  levelzero: {
    what: "Level Zero",
    // SYCL's library has had a loader linked into it since 2025, which asks the one that is mapped for its tables.
    library: { prefix: "libze_loader", symbols: ["zeMemFree"], ready: "mapped", apart: true, each: true, bypassed: "libur_adapter_level_zero" },
  },
};

const called = [
  { name: "function", type: "int", unit: "code" },
  { name: "began", type: "time" },
  { name: "returned", type: "int", unit: "0: done" },
] as const satisfies readonly Field[];
const words = Array.from({ length: WORDS }, (_, i): Field => ({ name: `word${i}`, type: "int", unit: "see tables.ts" }));

/** As the depth of a frame, behind those of all stacks: what launches a kernel that is known by a handle. */
export const LAUNCHER = MOST_FRAMES;

/** What each family's program sends. */
const records = {
  call: [...called, ...words],
  // A kernel by its name, where the first word is what it is known by from then on.
  named: [...called, { name: "given", type: "int", unit: "address" }, { name: "name", type: "text" }],
  // The next part of a name that is longer.
  more: [{ name: "given", type: "int", unit: "address" }, { name: "name", type: "text" }],
  // With stacks: how the next call of the thread came about; and a frame, or the address of a kernel, that was not told before.
  at: [{ name: "stack", type: "int", unit: "id" }],
  frame: frameRecord,
  // It had not returned when the window was shut.
  open: [{ name: "thread", type: "int", unit: "subject thread" }, ...called.slice(0, 2)],
} as const satisfies Probe["records"];

/** An argument by its place. Behind those in registers they lie on the stack, above the return address where there is one. */
const argument = (place: number) => place < 6 ? `(uint64)arg${place}` : `{{argument${place}}}`;
const low = (place: number) => `(${argument(place)} & 4294967295)`, high = (place: number) => `(${argument(place)} >> 32)`;
const at = (place: number, offset: number, bytes: 4 | 8 = 8) => `(uint64)*(uint${8 * bytes} *)(${argument(place)} + ${offset})`;

/**
 * Words that are put together of several. Grids are x + 2^31 × y; blocks z of the grid + 2^16 × x + 2^27 × y + 2^38 × z; where a copy comes from is its address
 * + 2^48 × its kind (see `saidBy`).
 */
const SOURCES: Readonly<Record<string, string>> = {
  area23: `${argument(2)} * ${argument(3)}`,
  area34: `${argument(3)} * ${argument(4)}`,
  area45: `${argument(4)} * ${argument(5)}`,
  area56: `${argument(5)} * ${argument(6)}`,
  area67: `${argument(6)} * ${argument(7)}`,
  fromOfKind: `(${argument(1)} & 281474976710655) + ((${low(3)} == 1024 ? (uint64)3 : ${low(3)} & 7) << 48)`,
  extent: "{{extent}}",
  // Behind an ncclUniqueId by value; behind a cudaPitchedPtr, a number and a cudaExtent.
  behindId: "{{behindId}}",
  behindStructs: "{{behindStructs}}",
  // CUDA_MEMCPY2D and _3D, hip_Memcpy2D and HIP_MEMCPY3D (since HIP 6; nothing is reserved in it): kinds of memory, and how much of it.
  types2D: `${at(0, 16, 4)} * 16 + ${at(0, 72, 4)}`,
  area2D: `${at(0, 112)} * ${at(0, 120)}`,
  types3D: `${at(0, 32, 4)} * 16 + ${at(0, 120, 4)}`,
  volume3D: `${at(0, 176)} * ${at(0, 184)} * ${at(0, 192)}`,
  types3DOfHip: `${at(0, 32, 4)} * 16 + ${at(0, 112, 4)}`,
  volume3DOfHip: `${at(0, 160)} * ${at(0, 168)} * ${at(0, 176)}`,
  // cudaMemcpy3DParms
  volumeOfParms: `${at(0, 128)} * ${at(0, 136)} * ${at(0, 144)}`,
  kindOfParms: at(0, 152, 4),
  // cudaMemcpy3DPeerParms
  volumeOfPeers: `${at(0, 144)} * ${at(0, 152)} * ${at(0, 160)}`,
  // Six numbers, the last of which lies on the stack.
  gridOfNumbers: `${low(1)} + (${low(2)} << 31)`,
  blockOfNumbers: `${low(3)} + (${low(4)} << 16) + (${low(5)} << 27) + (${low(6)} << 38)`,
  // Twice three numbers by value.
  gridOfPairs: `${low(1)} + (${high(1)} << 31)`,
  blockOfPairs: `${low(2)} + (${low(3)} << 16) + (${high(3)} << 27) + (${low(4)} << 38)`,
  // CUlaunchConfig and cudaLaunchConfig_t
  gridOfConfig: `${at(0, 0, 4)} + (${at(0, 4, 4)} << 31)`,
  blockOfConfig: `${at(0, 8, 4)} + (${at(0, 12, 4)} << 16) + (${at(0, 16, 4)} << 27) + (${at(0, 20, 4)} << 38)`,
  streamOfConfig: at(0, 32),
  // CUmemAllocationProp: what kind of place, and its number, which stands above 8 bits
  locationOfProp: `(${at(2, 8, 4)} & 255) + ((${at(2, 12, 4)} & 65535) << 8)`,
  // VkMemoryAllocateInfo
  bytesOfInfo: at(1, 16),
  // ze_kernel_desc_t, ze_physical_mem_desc_t (a flag says that it is the host's), ze_copy_region_t (of a plane the depth is 0), ze_group_count_t
  nameOfKernel: at(1, 24),
  bytesOfPhysical: at(2, 24),
  isOfHost: `${at(2, 16, 4)} & 2`,
  volumeOfCopy: `${at(2, 12, 4)} * ${at(2, 16, 4)} * (${at(2, 20, 4)} == 0 ? (uint64)1 : ${at(2, 20, 4)})`,
  gridOfGroups: `${at(2, 0, 4)} + (${at(2, 4, 4)} << 31)`,
  depthOfGroups: at(2, 8, 4),
  // ze_group_count_t and ze_group_size_t by value
  gridOfValues: `${low(2)} + (${high(2)} << 31)`,
  blockOfValues: `${low(3)} + (${low(4)} << 16) + (${high(4)} << 27) + (${low(5)} << 38)`,
};

function expression(source: string): string {
  const [, place, isNarrow] = /^(\d+)(n)?$/.exec(source) ?? [];
  if (place !== undefined) return isNarrow ? low(Number(place)) : argument(Number(place));
  const name = source.replace(/n$/, "");
  return SOURCES[name] ?? unknown(name);
}

function unknown(source: string): never {
  throw new Error(`no word of a call comes from ${source}`);
}

/** Kinds of functions that ask for a property, or build what is done later. */
const ASKS = new Set<Kind>(["state", "query", "graph", "interop", "profile"]);

/** Functions that share a program, by one of them. */
type Groups = ReadonlyMap<string, Signature>;

const isKernel = ({ kind, words }: Signature) => kind === "launch" && words[0] === "function";

/** Which beginnings of calls are alike: of what the same is read. */
function entryOf(family: Family, signature: Signature): string {
  const { kind, variant } = signature;
  const how = kind === "alloc" || kind === "state" ? kind : isKernel(signature) && family !== "cuda" ? `kernel${variant}` : "";
  return [how, ...signature.layout.sources].join("_");
}

/** What a function gives back behind the pointer that is its first word. */
function givenBy({ sources: [first = ""] }: Signature): "int" | "address" | "nothing" {
  return first.startsWith("*4:") ? "int" : first.startsWith("*") ? "address" : "nothing";
}

/** Of one that has to do with a kernel's name: it is asked what a kernel is called, and not which is called so. */
function givesName({ words }: Signature): boolean {
  return words[0] === "name";
}

/** Which ends are: of which the same is told. */
function returnOf(signature: Signature): string {
  const { kind } = signature;
  if (kind === "function") return givesName(signature) ? "name" : kind;
  return kind === "alloc" ? `alloc_${givenBy(signature)}` : kind === "state" ? kind : givenBy(signature);
}

/** What is told of a call when it returns. */
function tell(signature: Signature): string {
  const { kind, layout } = signature, gives = givenBy(signature);
  const given = `*(uint${gives === "int" ? 32 : 64} *)$open.2`;
  if (kind === "function") {
    const other = `$open.${2 + layout.slots[1]!}`;
    return givesName(signature) ? named(other, given) : named(given, other);
  }
  const first = gives === "nothing" ? "$open.2" : "$first";
  const read = gives === "nothing" ? "" : `$first = (uint64)0; if ($open.2 != 0) { $first = (uint64)${given}; } `;
  return `${read}EMIT(call, $open.1, $open.0, (int32)retval, ${first}, $open.3, $open.4, $open.5);`;
}

/** A function with its name. */
function named(given: string, name: string): string {
  const more = tellMore("$name", (piece) => `EMIT(more, $given, ${piece});`);
  return `$given = (uint64)${given}; $name = (uint64)${name}; EMIT(named, $open.1, $open.0, (int32)retval, $given, buf($name, ${TEXT_BYTES})); ${more}`;
}

/** A block where calls begin. */
function entryBlock(block: string, family: Family, key: string, signature: Signature): string {
  const words = signature.layout.sources.map(expression);
  const word = (i: number) => words[i] === undefined ? "(uint64)0" : `(uint64)(${words[i]})`;
  const numbered = `WITH(${family}/stacks) {
    $ip = (uint64){{ip}}; $sp = $place; $fp = {{fp}}; $caller = {{caller}};
    NUMBER_STACK
    TELL_STACK
    @gpu_stack[tid, $place] = $stack;
  }`;
  // A kernel of the runtime is known by a function of the program, or by a handle and the function that launches it.
  const [depth, address] = signature.variant === "handle" ? [LAUNCHER, "(uint64){{caller}}"] : [0, "$kernel"];
  const named = `$kernel = ${
    word(0)
  }; if (@gpu_kernel[pid, $kernel] == 0) { @gpu_kernel[pid, $kernel] = (uint64)1; EMIT(frame, $kernel, (uint64)${depth}, ${address}); }`;
  const also = signature.kind === "alloc" ? numbered : isKernel(signature) && family !== "cuda" ? named : "";
  return block.replace("{{enter}}", `{{enter_${key}}}`).replace(/WORD(\d)/g, (_, i: string) => word(Number(i))).replace("AT_ENTRY", also);
}

/** A block where calls end. */
function returnBlock(block: string, family: Family, key: string, signature: Signature): string {
  const isAsked = signature.kind === "alloc";
  const told = isAsked ? `WITH(${family}/stacks) { if (@gpu_stack[tid, $place] > 0) { EMIT(at, @gpu_stack[tid, $place]); } } ` : "";
  const forgotten = isAsked ? `WITH(${family}/stacks) { delete(@gpu_stack[tid, $place]); }` : "";
  return block.replace("{{back}}", `{{back_${key}}}`).replace("TELL", () => told + tell(signature)).replace("AT_RETURN", forgotten);
}

/** The blocks of a family: one for each group of beginnings, and of ends. */
function blocksOf(family: Family, entries: Groups, returns: Groups): string {
  const [head, enter, back] = template.split(/^\/\/ (?:Each kind of words|What is given back).*\n/m);
  const where = ({ kind }: Signature, block: string) => kind === "state" ? `WITH(${family}/states) {\n${block}\n}` : block;
  const blocks = [
    ...[...entries].map(([key, signature]) => where(signature, entryBlock(enter!, family, key, signature))),
    ...[...returns].map(([key, signature]) => where(signature, returnBlock(back!, family, key, signature))),
  ];
  return withStacks(`${head}\n${blocks.join("\n")}`);
}

/** Tells functions by what is known of them. */
function knownBy(family: Family, accepts: (signature: Signature) => boolean): NameTest {
  const test = (symbol: string) => {
    const signature = signatureOf(family, symbol);
    return signature !== undefined && accepts(signature);
  };
  return Object.assign(test, { begins: beginsOf(family) });
}

/** Every call of a family that is decoded: when, how long, with what, and what came of it. */
function callsOf(family: Family): Probe {
  const { what, library } = LIBRARIES[family];
  const all = [...signaturesOf(family).values()];
  const entry = (signature: Signature) => entryOf(family, signature);
  const entries = new Map(all.map((signature) => [entry(signature), signature]));
  const returns = new Map(all.map((signature) => [returnOf(signature), signature]));
  const site = (at: "entry" | "return", key: string, of: (signature: Signature) => string): Param => {
    const isOne = (signature: Signature) => of(signature) === key;
    const fewer = knownBy(family, (signature) => isOne(signature) && (!ASKS.has(signature.kind) || givesAddresses(signature.name)));
    return { type: "site", at, functions: [knownBy(family, isOne)], fewer, together: `${family}_${key}` };
  };
  const sites = [
    ...[...entries.keys()].map((key): [string, Param] => [`enter_${key}`, site("entry", key, entry)]),
    ...[...returns.keys()].map((key): [string, Param] => [`back_${key}`, site("return", key, returnOf)]),
  ];
  return {
    name: `${family}/calls`,
    summary: `${what}: each call, how long it takes, what it moves, holds and launches`,
    template: blocksOf(family, entries, returns),
    params: {
      ...Object.fromEntries(sites),
      ip,
      caller,
      popped,
      fp: { type: "arch", x86_64: '(uint64)reg("bp")', aarch64: '(uint64)reg("r29")' },
      argument6: { type: "arch", x86_64: '*(uint64 *)(reg("sp") + 8)', aarch64: '(uint64)reg("r6")' },
      argument7: { type: "arch", x86_64: '*(uint64 *)(reg("sp") + 16)', aarch64: '(uint64)reg("r7")' },
      argument8: { type: "arch", x86_64: '*(uint64 *)(reg("sp") + 24)', aarch64: '*(uint64 *)reg("sp")' },
      argument10: { type: "arch", x86_64: '*(uint64 *)(reg("sp") + 40)', aarch64: '*(uint64 *)(reg("sp") + 16)' },
      // Large structures by value lie on the stack, or where an argument points.
      behindId: { type: "arch", x86_64: "(uint64)arg2", aarch64: "(uint64)arg3" },
      behindStructs: { type: "arch", x86_64: "(uint64)arg1", aarch64: "(uint64)arg3" },
      // Three numbers by value: above the return address, or where the second argument points.
      extent: {
        type: "arch",
        x86_64: '*(uint64 *)(reg("sp") + 8) * *(uint64 *)(reg("sp") + 16) * *(uint64 *)(reg("sp") + 24)',
        aarch64: "*(uint64 *)arg1 * *(uint64 *)(arg1 + 8) * *(uint64 *)(arg1 + 16)",
      },
    },
    library,
    names: [knownBy(family, () => true)],
    facts: ["code"],
    hot: true,
    share: { enter_: ["call", "named"], back_: ["call", "named"] },
    widest: called.length + WORDS,
    // Calls of all families are in one map; whose each is, its function tells.
    atClose: "for ($each : @gpu_open) { EMIT(open, $each.0.0, $each.1.1, $each.1.0); }",
    records,
    texts: { "named.name": "model", "more.name": "model" },
    // See decoder.ts: the calls of all families belong together, and gpu/files tells of them.
    decoder: silent,
  };
}

export const families = Object.keys(LIBRARIES) as Family[];

/** The calls of each family, in a program for each library. */
export const calls: Readonly<Record<Family, Probe>> = Object.fromEntries(families.map((family) => [family, callsOf(family)])) as Record<
  Family,
  Probe
>;

/** What the decoder of all of them sees. */
export const callRecords = families.flatMap((family) => Object.keys(records).map((record) => `${family}/calls.${record}`));

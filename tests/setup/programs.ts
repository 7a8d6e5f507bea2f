import { join } from "node:path";
import { mustRun } from "../harness/command.ts";
import { findProgram } from "../harness/find_program.ts";
import { isFile } from "../harness/is_file.ts";
import { builtFolder, top } from "../harness/places.ts";
import { install } from "./install.ts";
import { CannotSetUp, type Part } from "./part.ts";

const sources = join(top, "tests", "workloads");

/** Links with libraries that lie beside the program, before those that LD_LIBRARY_PATH names: machines with a GPU name the real ones there. */
function linksBeside(folder: string): string[] {
  return [`-L${join(builtFolder, folder)}`, "-Wl,-rpath,$ORIGIN,--disable-new-dtags"];
}

/** Stand-ins for libraries that drive a GPU, and who calls them, in a folder: see workloads/gpu/log.h. */
function gpuStandIns(folder: string, protection: string) {
  const flags = ["-O2", protection, "-fPIC", "-shared", "-pthread"],
    shared = ["gpu/log.h"],
    calling = ["gpu/calls.c", "gpu/functions.h", "gpu/level_zero_calls.h"];
  const beside = linksBeside(folder);
  const driver = ["libcuda.so.1", "libnccl.so.2", "libamdhip64.so.6", "libnvinfer.so.10", "libze_loader.so.1"].map((name) => `-l:${name}`);
  const all = [...driver, "-l:libcudart.so.12"];
  return {
    [`${folder}/libcuda.so.1`]: { sources: ["gpu/cuda.c", ...shared], flags: [...flags, "-Wl,-soname,libcuda.so.1"], libraries: [] },
    [`${folder}/libcudart.so.12`]: {
      sources: ["gpu/cudart.c", ...shared],
      flags: [...flags, "-Wl,-soname,libcudart.so.12"],
      libraries: [...beside, "-l:libcuda.so.1"],
    },
    [`${folder}/libnccl.so.2`]: { sources: ["gpu/nccl.c", ...shared], flags: [...flags, "-Wl,-soname,libnccl.so.2"], libraries: [] },
    [`${folder}/libamdhip64.so.6`]: { sources: ["gpu/hip.c", ...shared], flags: [...flags, "-Wl,-soname,libamdhip64.so.6"], libraries: [] },
    [`${folder}/libnvinfer.so.10`]: { sources: ["gpu/nvinfer.c", ...shared], flags: [...flags, "-Wl,-soname,libnvinfer.so.10"], libraries: [] },
    [`${folder}/libze_loader.so.1`]: {
      sources: ["gpu/levelzero.c", ...shared],
      flags: [...flags, "-Wl,-soname,libze_loader.so.1"],
      libraries: [],
    },
    [`${folder}/calls`]: { sources: [...calling, ...shared], flags: ["-O1", "-g", "-pthread", "-rdynamic"], libraries: [...beside, ...all] },
    [`${folder}/opening`]: { sources: [...calling, ...shared], flags: ["-O1", "-g", "-pthread", "-DOPENED"], libraries: ["-ldl"] },
    [`${folder}/leaks`]: {
      sources: ["gpu/leaks.c", "clock.h", ...shared],
      flags: ["-O1", "-g", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-pthread"],
      libraries: [...beside, "-l:libcuda.so.1"],
    },
    [`${folder}/streams`]: { sources: ["gpu/streams.c", ...shared], flags: ["-O1", "-g", "-pthread"], libraries: [...beside, "-l:libcuda.so.1"] },
    [`${folder}/ordered`]: {
      sources: ["gpu/ordered.c", ...shared],
      flags: ["-O1", "-g", "-pthread"],
      libraries: [...beside, "-l:libcuda.so.1", "-l:libcudart.so.12"],
    },
    [`${folder}/elsewhere`]: {
      sources: ["gpu/elsewhere.c", ...shared],
      flags: ["-O1", "-g", "-pthread"],
      libraries: [...beside, "-l:libcuda.so.1", "-l:libcudart.so.12"],
    },
    [`${folder}/hangs`]: {
      sources: ["gpu/hangs.c", "clock.h", ...shared],
      flags: ["-O1", "-g", "-pthread"],
      libraries: [...beside, "-l:libcuda.so.1", "-l:libcudart.so.12"],
    },
    // The runtime is a part of a library of another name, which keeps it to itself, as CUDA's is in every library that nvcc links.
    [`${folder}/libengine.so`]: {
      sources: ["gpu/engine.c", ...calling, "gpu/cudart.c", ...shared],
      flags: [...flags, "-g", "-fvisibility=hidden", "-Dmain=make_calls", '-DVISIBILITY="hidden"', "-Wl,-soname,libengine.so"],
      libraries: [...beside, ...driver],
    },
    [`${folder}/inside`]: { sources: ["gpu/inside.c"], flags: ["-O1"], libraries: [...beside, "-l:libengine.so"] },
    // The runtime is a part of the program.
    [`${folder}/linked`]: {
      sources: [...calling, "gpu/cudart.c", ...shared],
      flags: ["-O1", "-g", protection, "-pthread"],
      libraries: [...beside, ...driver],
    },
  };
}

/** A driver that keeps no book, and a program that launches kernels, for what a call costs. */
function quietStandIn(folder: string, protection: string) {
  return {
    [`${folder}/libcuda.so.1`]: {
      sources: ["gpu/cuda.c", "gpu/log.h"],
      flags: ["-O2", protection, "-fPIC", "-shared", "-pthread", "-DQUIET", "-Wl,-soname,libcuda.so.1"],
      libraries: [],
    },
    [`${folder}/launching`]: {
      sources: ["gpu/launching.c", "clock.h"],
      flags: ["-O2"],
      libraries: [...linksBeside(folder), "-l:libcuda.so.1"],
    },
  };
}

/** A program that is its own library. */
function madeUpEngine(source: string, ...flags: string[]) {
  return {
    sources: [source, "clock.h", "ggml_structs.h", "llama_batch.h"],
    flags: ["-O1", "-fno-omit-frame-pointer", "-rdynamic", ...flags],
    libraries: [],
  };
}

/** What is built from which sources (of which headers are included by others), and with what. */
const table: Readonly<
  Record<string, { readonly sources: readonly string[]; readonly flags: readonly string[]; readonly libraries: readonly string[] }>
> = {
  planted: { sources: ["planted.c", "clock.h", "llama_batch.h"], flags: ["-O1", "-g"], libraries: ["-ldl"] },
  pagecache: { sources: ["pagecache.c"], flags: ["-O1"], libraries: [] },
  steady: { sources: ["steady.c", "clock.h", "llama_batch.h"], flags: ["-O1", "-g", "-pthread"], libraries: ["-ldl"] },
  rates: { sources: ["rates.c", "clock.h"], flags: ["-O1"], libraries: [] },
  paced: madeUpEngine("paced.c"),
  team: madeUpEngine("team.c", "-pthread"),
  timed: madeUpEngine("timed.c"),
  // With tensors that are laid out as in no ggml; with room for two sources more; and with one more behind something else, by which the name is as far away.
  "changed/paced": madeUpEngine("paced.c", "-DCHANGED"),
  "sources/paced": madeUpEngine("paced.c", "-DSOURCES=12"),
  "gradient/paced": madeUpEngine("paced.c", "-DSOURCES=11", "-DGRADIENT"),
  busy: { sources: ["busy.c", "clock.h", "schedstat.h"], flags: ["-O1"], libraries: ["-ldl"] },
  "libbusy.so": { sources: ["busy.c", "clock.h", "schedstat.h"], flags: ["-O1", "-fPIC", "-shared", "-DPART"], libraries: [] },
  asked: { sources: ["asked.c"], flags: ["-O1"], libraries: [] },
  answers: { sources: ["answers.c", "clock.h"], flags: ["-O1", "-pthread"], libraries: [] },
  "libkept.so": { sources: ["kept.c"], flags: ["-O1", "-fPIC", "-shared"], libraries: ["-ldl"] },
  moves: { sources: ["moves.c"], flags: ["-O1"], libraries: [] },
  // The program is its own library.
  batches: { sources: ["batches.c", "llama_batch.h"], flags: ["-O1", "-rdynamic"], libraries: [] },
  "inlined/batches": { sources: ["batches.c", "llama_batch.h"], flags: ["-O1", "-rdynamic", "-DINLINED"], libraries: [] },
  touched: { sources: ["touched.c", "clock.h"], flags: ["-O1"], libraries: [] },
  waits: { sources: ["waits.c", "book.h", "clock.h", "schedstat.h"], flags: ["-O1", "-pthread"], libraries: [] },
  callers: { sources: ["callers.c"], flags: ["-O1", "-fno-omit-frame-pointer"], libraries: [] },
  reads: { sources: ["reads.c"], flags: ["-O1"], libraries: [] },
  forks: { sources: ["forks.c", "clock.h"], flags: ["-O1"], libraries: [] },
  headless: { sources: ["headless.c", "clock.h"], flags: ["-O1", "-pthread"], libraries: [] },
  ring: { sources: ["ring.c", "book.h", "clock.h"], flags: ["-O1", "-pthread"], libraries: [] },
  pipes: { sources: ["pipes.c", "book.h", "clock.h"], flags: ["-O1"], libraries: [] },
  bottleneck: { sources: ["bottleneck.c", "clock.h", "schedstat.h"], flags: ["-O1", "-pthread"], libraries: [] },
  hog: { sources: ["hog.c", "clock.h"], flags: ["-O1"], libraries: [] },
  syscalls: { sources: ["syscalls.c", "clock.h"], flags: ["-O1", "-pthread"], libraries: [] },
  sampled: { sources: ["sampled.c", "clock.h", "llama_batch.h", "schedstat.h"], flags: ["-O1", "-rdynamic"], libraries: [] },
  hostile: { sources: ["hostile.c", "llama_batch.h"], flags: ["-O1"], libraries: ["-ldl", "-lpthread"] },
  // In a folder of its own: a target that loads it by this name must not find another.
  "stub/libllama.so": { sources: ["libllama_stub.c", "clock.h", "llama_batch.h"], flags: ["-O1", "-g", "-fPIC", "-shared"], libraries: [] },
  "counted/counted": { sources: ["counted/main.c", "clock.h", "llama_batch.h"], flags: ["-O1", "-g"], libraries: ["-ldl"] },
  "counted/linked": {
    sources: ["counted/main.c", "counted/llama.c", "counted/ggml_cpu.c", "clock.h", "ggml_structs.h", "llama_batch.h"],
    flags: ["-O1", "-g", "-DLINKED", "-static", "-Wl,--build-id"],
    libraries: [],
  },
  // Not for itself: to be begun by a loader.
  "counted/dynamic": {
    sources: ["counted/main.c", "counted/llama.c", "counted/ggml_cpu.c", "clock.h", "ggml_structs.h", "llama_batch.h"],
    flags: ["-O1", "-g", "-DLINKED", "-DLARGE", "-Wl,--build-id"],
    libraries: [],
  },
  "counted/libllama.so": {
    sources: ["counted/llama.c", "ggml_structs.h", "llama_batch.h"],
    flags: ["-O1", "-g", "-fPIC", "-shared"],
    libraries: ["-ldl"],
  },
  // All of an engine in one library of another name.
  "counted/engine.node": {
    sources: ["counted/llama.c", "counted/ggml_cpu.c", "ggml_structs.h", "llama_batch.h"],
    flags: ["-O1", "-g", "-fPIC", "-shared", "-DLINKED", "-DLARGE"],
    libraries: [],
  },
  // Another engine, which has its own ways into ggml.
  "counted/libwhisper.so": {
    sources: ["counted/llama.c", "ggml_structs.h", "llama_batch.h"],
    flags: ["-O1", "-g", "-fPIC", "-shared", "-DBASE"],
    libraries: ["-ldl"],
  },
  "counted/libggml-base.so": { sources: ["counted/ggml_base.c"], flags: ["-O1", "-g", "-fPIC", "-shared"], libraries: [] },
  "counted/libggml-cpu-x64.so": { sources: ["counted/ggml_cpu.c", "ggml_structs.h"], flags: ["-O1", "-g", "-fPIC", "-shared"], libraries: [] },
  // Quick: for targets that call it ten thousand times.
  "quick/libllama.so": {
    sources: ["libllama_stub.c", "clock.h", "llama_batch.h"],
    flags: ["-O1", "-g", "-fPIC", "-shared", "-DBURN_NS=1000"],
    libraries: [],
  },
  "gpu/devices": { sources: ["gpu/devices.c", "clock.h"], flags: ["-O1", "-pthread"], libraries: [] },
  "gpu/libparcagpucupti.so": { sources: ["gpu/parcagpu.c"], flags: ["-O2", "-fPIC", "-shared", "-Wl,-soname,libparcagpucupti.so"], libraries: [] },
  "gpu/injected": {
    sources: ["gpu/injected.c"],
    flags: ["-O2"],
    libraries: [...linksBeside("gpu"), "-l:libparcagpucupti.so"],
  },
  // As distributions compile, and without the landing pads that these begin functions with.
  ...gpuStandIns("gpu", "-fcf-protection"),
  ...gpuStandIns("gpu-plain", "-fcf-protection=none"),
  ...quietStandIn("gpu-quiet", "-fcf-protection=none"),
  ...quietStandIn("gpu-quiet-protected", "-fcf-protection"),
};

/** Paths of what is built here. */
export const built = {
  planted: join(builtFolder, "planted"),
  busy: { program: join(builtFolder, "busy"), library: join(builtFolder, "libbusy.so") },
  pagecache: join(builtFolder, "pagecache"),
  steady: join(builtFolder, "steady"),
  rates: join(builtFolder, "rates"),
  paced: join(builtFolder, "paced"),
  team: join(builtFolder, "team"),
  timed: join(builtFolder, "timed"),
  asked: join(builtFolder, "asked"),
  answers: join(builtFolder, "answers"),
  kept: join(builtFolder, "libkept.so"),
  moves: join(builtFolder, "moves"),
  batches: join(builtFolder, "batches"),
  inlinedBatches: join(builtFolder, "inlined", "batches"),
  touched: join(builtFolder, "touched"),
  waits: join(builtFolder, "waits"),
  reads: join(builtFolder, "reads"),
  forks: join(builtFolder, "forks"),
  headless: join(builtFolder, "headless"),
  ring: join(builtFolder, "ring"),
  pipes: join(builtFolder, "pipes"),
  callers: join(builtFolder, "callers"),
  bottleneck: join(builtFolder, "bottleneck"),
  hog: join(builtFolder, "hog"),
  changed: join(builtFolder, "changed", "paced"),
  moreSources: join(builtFolder, "sources", "paced"),
  gradient: join(builtFolder, "gradient", "paced"),
  syscalls: join(builtFolder, "syscalls"),
  sampled: join(builtFolder, "sampled"),
  hostile: join(builtFolder, "hostile"),
  libllamaStub: join(builtFolder, "stub", "libllama.so"),
  /** A folder: see counted/main.c. */
  counted: join(builtFolder, "counted"),
  /** Folders: see workloads/gpu/log.h. */
  gpu: {
    protected: join(builtFolder, "gpu"),
    plain: join(builtFolder, "gpu-plain"),
    quiet: { protected: join(builtFolder, "gpu-quiet-protected"), plain: join(builtFolder, "gpu-quiet") },
  },
  libllamaQuick: join(builtFolder, "quick", "libllama.so"),
};

/** Planted targets and small helpers in C. */
export const programs: Part = {
  name: "programs",
  what: "planted targets and helpers in C",
  isThere: () =>
    Object.entries(table).every(([name, from]) => from.sources.every((source) => isNewer(join(builtFolder, name), join(sources, source)))),
  async make() {
    if (findProgram("gcc") === null || !isFile("/usr/include/stdio.h")) {
      if (Deno.uid() !== 0) throw new CannotSetUp("There is no C compiler.", "Type `sudo apt-get install gcc libc6-dev`.");
      await install(["gcc", "libc6-dev"]);
    }
    for (const [name, from] of Object.entries(table)) {
      const path = join(builtFolder, name);
      Deno.mkdirSync(join(path, ".."), { recursive: true });
      const files = from.sources.filter((source) => source.endsWith(".c")).map((source) => join(sources, source));
      await mustRun(["gcc", "-Wall", "-Wextra", "-Werror", ...from.flags, "-o", path, ...files, ...from.libraries]);
    }
  },
};

function isNewer(result: string, source: string): boolean {
  try {
    return Deno.statSync(result).mtime! >= Deno.statSync(source).mtime!;
  } catch {
    return false;
  }
}

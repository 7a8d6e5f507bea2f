/** Calls into libraries that drive a GPU, by stand-ins that keep a book of each: see tests/workloads/gpu/log.h. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { type Finished, start } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { type Temporary, temporary } from "../harness/temporary.ts";
import { built } from "../setup/programs.ts";
import { neededBy } from "../workloads/counted.ts";
import { givenBy, heldBy, type Noted, readBooks, type Told, toldCalls, toldStreams } from "./gpu_run.ts";
import { startContainer } from "./container.ts";
import { assertCudaLines } from "./cuda_lines.ts";
import { allFormats, type LiveOptions, outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { processTable, until } from "./processes.ts";
import { differingReplays } from "./replayed.ts";

const CALLS = 1009;
const LIBRARIES = ["libcuda.so.1", "libcudart.so.12", "libnccl.so.2"];
/** Words of a book's line that a trace has as well. */
const WORDS = [
  "device",
  "ordinal",
  "context",
  "module",
  "function",
  "address",
  "bytes",
  "memory",
  "to",
  "from",
  "direction",
  "stream",
  "grid",
  "block",
  "exec",
];

/** Two that are asked for by name: of one the name is longer than a record has room for. */
const NAMED_KERNELS = [
  "rope_norm_f32",
  "at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<unsigned char>, std::array<char*, (unsigned long)1> >",
];

/** What `calls` calls of those that only ask how things stand. */
const STATES = ["cudaGetDevice", "cudaGetLastError"];

interface OfThread {
  readonly pid: number;
  readonly tid: number;
}

/** By process and thread, in order: what was noted, and what was told. */
function byThread<T extends OfThread>(all: readonly T[], nameOf = ({ pid, tid }: OfThread) => `${pid} ${tid}`): Map<string, T[]> {
  return Map.groupBy(all, nameOf);
}

/** Processes and threads by the order of their numbers: a container has numbers of its own, which grow as the kernel's do. */
function inOrder(all: readonly OfThread[]): (of: OfThread) => string {
  const [pids, tids] = [all.map(({ pid }) => pid), all.map(({ tid }) => tid)].map(asGiven);
  return ({ pid, tid }) => `${pids!.indexOf(pid)} ${tids!.indexOf(tid)}`;
}

/** Numbers in the order in which the kernel has given them: behind the largest it begins anew. */
function asGiven(ids: readonly number[]): number[] {
  const sorted = [...new Set(ids)].sort((a, b) => a - b);
  const anew = sorted.findIndex((id, i) => id - (sorted[i - 1] ?? id) > 10_000);
  return anew < 0 ? sorted : [...sorted.slice(anew), ...sorted.slice(0, anew)];
}

function assertTold(noted: readonly Noted[], told: readonly Told[], library: string, ownNumbers: boolean): void {
  assert.equal(told.length, noted.length, `calls of ${library}`);
  const threads = ownNumbers ? byThread(told, inOrder(told)) : byThread(told);
  for (const [thread, calls] of ownNumbers ? byThread(noted, inOrder(noted)) : byThread(noted)) {
    const own = threads.get(thread) ?? [];
    assert.deepEqual(own.map(({ func }) => func), calls.map(({ func }) => func), `${library}, thread ${thread}`);
    for (const [i, { func, ret, ...note }] of calls.entries()) {
      const { args } = own[i]!;
      if (func !== "cudaGetLastError") assert.equal(args.returned, ret, `${func} returned`);
      for (const word of WORDS) {
        // What failed gave nothing; a null that C prints is nil.
        if (note[word] === undefined || (word === "address" && ret !== 0)) continue;
        const expected = note[word] === "(nil)" ? "0x0" : note[word];
        assert.equal(args[word], expected, `${word} of ${func} (call ${i} of thread ${thread}): ${JSON.stringify({ note, args })}`);
      }
    }
  }
}

/** A target, where its books are kept, and what of it runs before llmprof comes. */
interface Way {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly books: string;
  /** It waits for this file, and llmprof comes before. */
  readonly go?: string;
  /** It runs in a container with this root. */
  readonly root?: string;
  /** Without the calls that only ask how things stand. */
  readonly few?: true;
}

const program = (folder: string, name: string, ...words: string[]) => [join(folder, name), "0", String(CALLS), ...words];
const { protected: usual, plain } = built.gpu;
const inRoot = { GPU_LOG: "/srv/book", LD_LIBRARY_PATH: "/opt" };
const inFolder = ({ path }: Temporary) => ({ books: path, env: { GPU_LOG: join(path, "book") } });

const ways: Readonly<Record<string, (folder: Temporary) => Way>> = {
  "as distributions compile": (folder) => ({ argv: program(usual, "calls"), ...inFolder(folder) }),
  "without landing pads": (folder) => ({ argv: program(plain, "calls"), ...inFolder(folder) }),
  "a runtime that is a part of the program": (folder) => ({ argv: program(usual, "linked"), ...inFolder(folder) }),
  "a runtime that is a part of a library": (folder) => ({ argv: program(usual, "inside"), ...inFolder(folder) }),
  "copies in a virtual environment, opened after the start": (folder) => ({
    argv: program(usual, "opening", `${venv(folder)}/`),
    ...inFolder(folder),
  }),
  "but those that only ask": (folder) => ({ argv: program(usual, "calls"), ...inFolder(folder), few: true }),
  "a process that runs already": (folder) => ({ argv: program(usual, "calls"), ...inFolder(folder), go: folder.file("go") }),
  "a process that runs already, and opens them later": (folder) => ({
    argv: program(usual, "opening", `${usual}/`),
    ...inFolder(folder),
    go: folder.file("go"),
  }),
  "in a root and namespaces of its own": (folder) => {
    const argv = ["unshare", "--mount", "--user", "--map-root-user", "chroot", rootWithGpu(folder), ...program("/opt", "calls")];
    return { argv, books: folder.file("root/srv"), env: inRoot };
  },
  "in a container": (folder) => {
    const env = { ...inRoot, GPU_GO: "/srv/go" };
    return { argv: program("/opt", "calls"), books: folder.file("srv"), env, go: folder.file("srv/go"), root: rootWithGpu(folder) };
  },
};

/** Libraries as wheels bring them. */
function venv(folder: Temporary): string {
  const path = folder.file("venv/lib/python3.11/site-packages/nvidia/lib");
  Deno.mkdirSync(path, { recursive: true });
  for (const name of LIBRARIES) Deno.copyFileSync(join(usual, name), join(path, name));
  return path;
}

/** A root with the program, the libraries and what the loader needs. */
function rootWithGpu(folder: Temporary): string {
  const root = folder.file("root");
  for (const name of ["opt", "srv"]) Deno.mkdirSync(join(root, name), { recursive: true });
  for (const name of ["calls", ...LIBRARIES]) Deno.copyFileSync(join(usual, name), join(root, "opt", name));
  for (const path of neededBy(join(usual, "calls")).filter((path) => !path.startsWith(usual))) {
    Deno.mkdirSync(join(root, dirname(path)), { recursive: true });
    Deno.copyFileSync(path, join(root, path));
  }
  return root;
}

async function traced({ argv, env, go, root, few }: Way, folder: Temporary, bpftrace: string): Promise<Finished> {
  const options = { bpftrace, folder, formats: allFormats, flags: ["--cuda-jsonl", folder.file("calls.jsonl"), ...few ? [] : ["--every-call"]] };
  const withEnv = ["env", ...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...go === undefined ? [] : [`GPU_GO=${go}`], ...argv];
  if (go === undefined) {
    await using llmprof = startLlmprof("gpu", { ...options, target: { argv: withEnv } });
    return await llmprof.finished();
  }
  const attached = async (which: Pick<LiveOptions, "target">, flags: readonly string[] = []) => {
    await using llmprof = startLlmprof("gpu", { ...options, ...which, flags: [...options.flags, ...flags] });
    await llmprof.saw(/Tracing process/);
    Deno.writeTextFileSync(go, "");
    return await llmprof.finished();
  };
  if (root !== undefined) {
    await using container = await startContainer(folder, root, argv, env);
    await until("the program runs", () => processTable().find(({ name }) => name === "calls"));
    return await attached({}, ["--container", container.name]);
  }
  await using target = start(withEnv);
  await target.saw("ready");
  return await attached({ target: { pid: target.pid } });
}

/** `fio` brings jq. */
const needsOf = (what: string) => ({ fio: true, podman: what === "in a container" });

for (const [i, [what, wayOf]] of Object.entries(ways).entries()) {
  const title = `gpu: ${CALLS} calls of two processes with three threads each, every one as it was: ${what}`;
  // A version before 0.23 takes a quarter of a minute to let go of so many functions: it is given the first of them.
  sampledTest(Math.min(i, 1), title, needsOf(what), async ({ path }) => {
    using folder = temporary();
    const way = wayOf(folder);
    const { result, events } = summaryOf("gpu", await traced(way, folder, path));
    assert.equal(events.lost, events.skipped);
    assert.equal(result.quality.unknownCalls, 0);
    const noted = asSeen(readBooks(way.books), way.go !== undefined), books = way.few ? noted.filter(({ func }) => !STATES.includes(func)) : noted;
    assert.equal(new Set(books.map(({ pid }) => pid)).size, 2);
    // Each of these makes one of the driver's.
    const twins = noted.filter(({ func }) => func === "cudaMalloc" || func === "cudaFree").length;
    assert.equal(noted.length - twins, CALLS, "the books have all that the program asked for");
    for (const family of ["cuda", "cudart", "nccl"]) {
      assertTold(books.filter(({ library }) => library === family), toldCalls(outputPath(folder, "jsonl"), family), family, way.root !== undefined);
    }
    assert.deepEqual(toldStreams(outputPath(folder, "jsonl")), givenBy(books), "what streams were given");
    // What is held, by kind.
    for (const [memory, { allocations, bytes, frees, freed }] of heldBy(books)) {
      const rows = result.memory.filter((row) => row.memory === memory);
      const sum = (of: "allocations" | "allocatedBytes" | "frees" | "freedBytes") => rows.reduce((all, row) => all + row[of], 0);
      assert.deepEqual([sum("allocations"), sum("allocatedBytes"), sum("frees"), sum("freedBytes")], [allocations, bytes, frees, freed], memory);
      const held = result.held.filter((row) => row.memory === memory);
      assert.deepEqual(
        [held.reduce((all, { blocks }) => all + blocks, 0), held.reduce((all, { bytes }) => all + bytes, 0)],
        [allocations - frees, bytes - freed],
        `${memory} that was never freed`,
      );
      assert.ok(held.every(({ exited }) => exited));
    }
    // Who ran before had asked for nothing yet.
    assert.deepEqual(result.memoryBefore, { processes: way.go === undefined ? 0 : 1, frees: 0 });
    // Each direction, with its bytes; launches into graphs apart.
    const copies = books.filter(({ direction, ret }) => direction !== undefined && ret === 0);
    for (const [direction, all] of Map.groupBy(copies, ({ direction }) => String(direction))) {
      const row = result.copies.find((row) => row.direction === direction);
      assert.deepEqual([row?.copies, row?.bytes], [all.length, all.reduce((sum, { bytes }) => sum + Number(bytes), 0)], direction);
    }
    const launches = books.filter(({ func }) => /LaunchKernel$/.test(func)).length;
    assert.equal(result.totals.launches + result.totals.captured, launches);
    const { captured, run, within } = ofGraphs(books);
    assert.ok(run > 0 && within > 0);
    const { totals } = result;
    assert.deepEqual([totals.captured, totals.graphKernels, totals.capturedGraphs, totals.unknownGraphs], [captured, run, within, 0]);
    const called = (names: RegExp) => books.filter(({ func, ret }) => names.test(func) && (ret === 0 || ret === 600)).length;
    assert.deepEqual([totals.syncs, totals.polls], [called(/Synchronize$/), called(/Query$/)]);
    const waited = copies.filter(({ func, direction }) =>
      !func.endsWith("Async") && ["host to device", "device to host"].includes(String(direction))
    );
    assert.equal(totals.waitedCopies, waited.length);
    assert.equal(result.kernels.reduce((sum, { inGraphs }) => sum + inGraphs, 0), run);
    for (const kernel of NAMED_KERNELS) {
      assert.ok(result.kernels.some(({ name, launches }) => name === kernel && launches > 0), `a kernel by its name, ${kernel}`);
    }
    const ofNccl = [...Map.groupBy(books.filter(({ library }) => library === "nccl"), ({ func }) => func)].map(([func, all]) => ({
      name: func,
      calls: all.length,
      bytes: all.reduce((sum, { bytes = 0 }) => sum + Number(bytes), 0),
    }));
    const figures = ({ name, calls, bytes }: typeof ofNccl[number]) => `${name}: ${calls}, ${bytes} bytes`;
    assert.deepEqual(result.functions.filter(({ family }) => family === "nccl").map(figures).sort(), ofNccl.map(figures).sort());
    // What moves nothing is no collective call.
    assert.deepEqual(result.collectives.map(figures).sort(), ofNccl.filter(({ bytes }) => bytes > 0).map(figures).sort());
    const failed = books.filter(({ ret, func }) => ret !== 0 && ret !== 600 && func !== "cudaGetLastError").length;
    assert.equal(result.totals.failed, failed);
    await assertCudaLines(folder.file("calls.jsonl"), books);
    assert.deepEqual(await differingReplays(folder, ["pftrace", "json", "jsonl"]), []);
  });
}

/** Of a process that ran before llmprof came nobody knows which memory is the host's: where a copy goes by its addresses alone is not told of the first one. */
function asSeen(noted: readonly Noted[], ranBefore: boolean): readonly Noted[] {
  const first = Math.min(...noted.map(({ pid }) => pid));
  const isUnknown = ({ pid, func }: Noted) => ranBefore && pid === first && ["cuMemcpy", "cuMemcpyAsync"].includes(func);
  return noted.map((call) => isUnknown(call) ? { ...call, direction: "by the addresses" } : call);
}

/**
 * Launches into a stream of which a graph was made, and how many kernels the graphs ran that were launched; and how many of these were launched into such a
 * stream (`within`). Each process's threads have streams of their own.
 */
function ofGraphs(books: readonly Noted[]): { readonly captured: number; readonly run: number; readonly within: number } {
  let [captured, run, within] = [0, 0, 0];
  for (const thread of byThread(books.filter(({ library }) => library === "cuda")).values()) {
    // By stream, by graph, and by what can be launched.
    const kernels = new Map<string, number>();
    for (const { func, stream, graph, exec } of thread) {
      const recording = kernels.get(`stream ${stream}`);
      if (func === "cuStreamBeginCapture") kernels.set(`stream ${stream}`, 0);
      if (func === "cuLaunchKernel" && recording !== undefined) {
        captured++;
        kernels.set(`stream ${stream}`, recording + 1);
      }
      if (func === "cuStreamEndCapture") {
        kernels.set(`graph ${graph}`, recording!);
        kernels.delete(`stream ${stream}`);
      }
      if (func === "cuGraphInstantiateWithFlags") kernels.set(`exec ${exec}`, kernels.get(`graph ${graph}`) ?? 0);
      if (func !== "cuGraphLaunch") continue;
      const launched = kernels.get(`exec ${exec}`) ?? 0;
      if (recording === undefined) run += launched;
      else {
        within++;
        kernels.set(`stream ${stream}`, recording + launched);
      }
    }
  }
  return { captured, run, within };
}

const LEAKED = 13, FREED = 29, GAPS = 31;

sampledTest(
  1,
  "gpu --stacks: blocks that are never freed, by who asked for them; gaps between a wait and the next launch, as long as they were",
  {},
  async ({ path }) => {
    using folder = temporary();
    const target = { argv: [join(built.gpu.protected, "leaks"), ...[LEAKED, FREED, GAPS].map(String)] };
    await using llmprof = startLlmprof("gpu", { bpftrace: path, folder, target, flags: ["--stacks"] });
    const ended = await llmprof.finished();
    const { result } = summaryOf("gpu", ended);
    assert.deepEqual(result.held.map(({ blocks, bytes, exited, frames }) => [blocks, bytes, exited, frames?.slice(0, 4)]), [
      [LEAKED, LEAKED * 1009, true, ["cuMemAlloc_v2 (libcuda.so.1)", "allocate (leaks)", "forget (leaks)", "main (leaks)"]],
    ]);
    const [memory] = result.memory;
    assert.deepEqual([memory!.allocations, memory!.frees, memory!.peakBytes], [LEAKED + FREED, FREED, LEAKED * 1009 + 2003]);
    const planted = JSON.parse(ended.stderr.split("\n").find((line) => line.startsWith('{"gaps"'))!);
    const { gaps } = result;
    assert.equal(gaps.count, GAPS);
    assert.ok(Math.abs(gaps.ns - planted.sum) < 0.02 * planted.sum, `${gaps.ns / 1e6} ms of gaps, ${planted.sum / 1e6} by its own clock`);
    assert.ok(Math.abs(gaps.longestNs - planted.longest) < 0.02 * planted.longest, `${gaps.longestNs / 1e6} ms, ${planted.longest / 1e6} planted`);
  },
);

const LAUNCHES = 17, HANGS_NS = 2.5e9;

for (const how of ["when counting ends", "when its process ends"] as const) {
  sampledTest(1, `gpu: a call that does not return is told ${how}, with how long it has lasted`, {}, async ({ path, name }) => {
    using folder = temporary();
    const isCut = how === "when counting ends";
    const target = { argv: [join(built.gpu.protected, "hangs"), String(LAUNCHES), String((isCut ? 3 : 1) * HANGS_NS / 1e6)] };
    const flags = isCut ? ["--duration", `${HANGS_NS / 1e9}s`] : [];
    await using llmprof = startLlmprof("gpu", { bpftrace: path, folder, target, flags, formats: allFormats });
    const { result } = summaryOf("gpu", await llmprof.finished());
    assert.deepEqual([result.totals.launches, result.totals.syncs], [LAUNCHES, LAUNCHES]);
    assert.deepEqual(await differingReplays(folder, ["pftrace", "json", "jsonl"]), []);
    // It cannot walk through a map.
    if (name === "0.17") return assert.deepEqual(result.unfinished, []);
    const told = result.unfinished.map(({ family, name, calls }) => `${family} ${name} ${calls}`).sort();
    assert.deepEqual(told, ["cuda cuStreamSynchronize 2", "cudart cudaStreamSynchronize 1"]);
    for (const { longestNs, pid, tid } of result.unfinished) {
      // What came before is a part of the time that is counted, and what comes after of the time that the program has.
      assert.ok(Math.abs(longestNs - HANGS_NS) < 0.2 * HANGS_NS && tid !== pid, `${longestNs / 1e6} ms`);
    }
  });
}

const KERNELS = 101;

// The third version is the first that hands over all arguments.
sampledTest(2, "gpu: kernels on the GPU, where a marker of parcagpu tells of them, each as long as it was", {}, async ({ path, name }) => {
  using folder = temporary();
  const target = { argv: [join(built.gpu.protected, "injected"), String(KERNELS)] };
  await using llmprof = startLlmprof("gpu", { bpftrace: path, folder, target });
  const { result, notes } = summaryOf("gpu", await llmprof.finished());
  // Older ones hand over six of the marker's eight arguments.
  if (name !== "0.27") {
    assert.ok(result.executed === null && notes.some((note) => note.includes("needs bpftrace 0.27")), notes.join());
    return;
  }
  const lengths = (first: number) => Array.from({ length: KERNELS }, (_, i) => i + 1).filter((i) => i % 2 === first).map((i) => 1000 * i);
  const of = (first: number) => ({
    runs: lengths(first).length,
    totalNs: lengths(first).reduce((sum, ns) => sum + ns),
    maxNs: lengths(first).at(-1),
  });
  assert.deepEqual(result.executed!.map(({ name, runs, totalNs, maxNs }) => ({ name, runs, totalNs, maxNs })), [
    { name: "mul_mat_q<2>", ...of(1) },
    { name: "rms_norm_f32", ...of(0) },
  ]);
});

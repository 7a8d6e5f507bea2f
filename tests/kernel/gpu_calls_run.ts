import assert from "node:assert/strict";
import { type Temporary, temporary } from "../harness/temporary.ts";
import { assertCudaLines } from "./cuda_lines.ts";
import { asked, givenBy, heldBy, type Noted, readBooks, type Told, toldCalls, toldStreams } from "./gpu_run.ts";
import { CALLS, traced, type Way } from "./gpu_ways.ts";
import { outputPath, summaryOf } from "./live_run.ts";
import { differingReplays } from "./replayed.ts";

/** Words of a book's line that a trace has as well. */
const WORDS = [
  "device",
  "ordinal",
  "context",
  "module",
  "function",
  "kernel",
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
  "graph",
  "event",
  "ranks",
  "rank",
  "root",
  "peer",
  "submits",
];
const LAUNCH = /Launch(?:Cooperative)?Kernel(?:Ex|ExC|WithArguments)?$/;

/** Those that are asked for by name: of one the name is longer than seventeen records have room for. */
const NAMED_KERNELS = [
  "rope_norm_f32",
  "soft_max_f16",
  "rms_norm_f16",
  "mul_mat_vec_q4_K",
  "argmax_f32",
  `at::native::vectorized_elementwise_kernel<${
    Array(25).fill("4, at::native::FillFunctor<unsigned char>, std::array<char*, (unsigned long)1>").join(", ")
  } >`,
];

/** What `calls` calls of those that only ask how things stand. */
const STATES = ["cudaGetDevice", "cudaGetLastError"];
/** What they return says nothing, or nothing of how it went. */
const WITHOUT_RESULT = /Infer/, OF_OTHERS = /LastError$/;

/** What there is to ask of a GPU: each of it is asked, or it would be compared with nothing. */
const LIBRARIES = ["cuda", "cudart", "nccl", "hip", "tensorrt", "levelzero"];
const KINDS =
  "init query context module function alloc free reserve copy prefetch set launch graph graphLaunch capture captured stream event poll sync collective group submit";
const MEMORY = ["device", "host", "managed", "physical", "pooled", "registered"];
const DIRECTIONS = ["between devices", "device to host", "host to device", "on the device", "on the host"];

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
      if (!WITHOUT_RESULT.test(func)) assert.equal(args.returned, ret, `${func} returned`);
      for (const word of WORDS) {
        // What failed gave nothing; a null that C prints is nil.
        if (note[word] === undefined || (word === "address" && ret !== 0)) continue;
        const expected = note[word] === "(nil)" ? "0x0" : note[word];
        assert.equal(args[word], expected, `${word} of ${func} (call ${i} of thread ${thread}): ${JSON.stringify({ note, args })}`);
      }
    }
  }
}

/** Runs llmprof on such a target. Throws where anything that it tells is not as the books have it. */
export async function assertCalls(wayOf: (folder: Temporary) => Way, bpftrace: string): Promise<void> {
  using folder = temporary();
  const way = wayOf(folder);
  const { result, events } = summaryOf("gpu", await traced(way, folder, bpftrace));
  assert.equal(events.lost, events.skipped);
  assert.equal(result.quality.unknownCalls, 0);
  const noted = asSeen(readBooks(way.books), way.go !== undefined), books = way.few ? noted.filter(({ func }) => !STATES.includes(func)) : noted;
  assert.equal(new Set(books.map(({ pid }) => pid)).size, 2);
  assert.equal(asked(noted).length, CALLS, "the books have all that the program asked for");
  assert.deepEqual(new Set(result.functions.map(({ kind }) => kind)), new Set([...KINDS.split(" "), ...way.few ? [] : ["state"]]));
  assert.deepEqual([...heldBy(books).keys()].sort(), MEMORY);
  assert.deepEqual(new Set(books.map(({ library }) => library)), new Set(LIBRARIES));
  for (const family of LIBRARIES) {
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
  const once = asked(books), copies = once.filter(({ direction, ret }) => direction !== undefined && ret === 0);
  const directions = new Set(copies.map(({ direction }) => String(direction))).difference(new Set(["by the addresses"]));
  assert.deepEqual([...directions].sort(), DIRECTIONS);
  for (const [direction, all] of Map.groupBy(copies, ({ direction }) => String(direction))) {
    const row = result.copies.find((row) => row.direction === direction);
    assert.deepEqual([row?.copies, row?.bytes], [all.length, all.reduce((sum, { bytes }) => sum + Number(bytes), 0)], direction);
  }
  const launches = once.filter(({ func }) => LAUNCH.test(func)).length;
  assert.equal(result.totals.launches + result.totals.captured, launches);
  const { captured, run, within } = ofGraphs(books);
  assert.ok(run > 0 && within > 0);
  const { totals } = result;
  assert.deepEqual([totals.captured, totals.graphKernels, totals.capturedGraphs, totals.unknownGraphs], [captured, run, within, 0]);
  const called = (names: RegExp) => once.filter((call) => names.test(call.func) && !hasFailed(call)).length;
  assert.deepEqual([totals.syncs, totals.polls], [called(/Synchronize$/), called(/Query(?:Status)?$/)]);
  const atOnce = copies.filter(({ func, library }) => !func.endsWith("Async") && library !== "levelzero");
  const waited = atOnce.filter(({ direction }) => ["host to device", "device to host"].includes(String(direction)));
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
  const failed = books.filter((call) => hasFailed(call) && !WITHOUT_RESULT.test(call.func) && !OF_OTHERS.test(call.func)).length;
  assert.equal(result.totals.failed, failed);
  await assertCudaLines(folder.file("calls.jsonl"), books, way.root !== undefined);
  assert.deepEqual(await differingReplays(folder, ["pftrace", "json", "jsonl"]), []);
}

/** "Not ready yet" is an answer. */
function hasFailed({ library, ret }: Noted): boolean {
  return ret !== 0 && ret !== (library === "levelzero" ? 1 : 600);
}

/**
 * Of a process that ran before llmprof came nobody knows which memory is the host's, if it was not asked for, nor on which GPUs its threads are: where a copy
 * goes by its addresses alone is not told of the first one.
 */
function asSeen(noted: readonly Noted[], ranBefore: boolean): readonly Noted[] {
  const [first] = asGiven(noted.map(({ pid }) => pid));
  return noted.map((call) => {
    if (!ranBefore || call.pid !== first || !/^cuMemcpy(?:Async)?$|AppendMemoryCopy/.test(call.func)) return call;
    const areAsked = [call.to, call.from].every((address) => /^0x7[4-9].{10}$/.test(String(address)));
    return { ...call, direction: areAsked ? String(call.direction).replace("between devices", "on the device") : "by the addresses" };
  });
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
      if (LAUNCH.test(func) && recording !== undefined) {
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

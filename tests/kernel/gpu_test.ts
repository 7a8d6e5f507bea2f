/** Calls into libraries that drive a GPU, by stand-ins that keep a book of each: see tests/workloads/gpu/log.h. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { start } from "../harness/command.ts";
import { type Bpftrace, walksMaps } from "../harness/bpftraces.ts";
import { markersTest, sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { built } from "../setup/programs.ts";
import { assertCalls } from "./gpu_calls_run.ts";
import { CALLS, ways } from "./gpu_ways.ts";
import { linesOf, toldCalls } from "./gpu_run.ts";
import { allFormats, outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { differingReplays } from "./replayed.ts";
import { watchedTurns } from "./watched_turns.ts";

/** `fio` brings jq. */
const needsOf = (what: string) => ({ fio: true, podman: what === "in a container" });

for (const [i, [what, wayOf]] of Object.entries(ways).entries()) {
  const title = `gpu: ${CALLS} calls of two processes with three threads each, every one as it was: ${what}`;
  // A version before 0.23 takes a quarter of a minute to let go of so many functions: it is given the first of them.
  const isRare = [
    "a runtime that is a part of a library",
    "but those that only ask",
    "a process that runs already",
    "in a root and namespaces of its own",
  ].includes(what);
  sampledTest(Math.min(i, 1), title, needsOf(what), ({ path }) => assertCalls(wayOf, path), isRare);
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

const BEHIND = 23, APART = 7, DESTROYED = 11;

sampledTest(
  1,
  "gpu: the default stream is waited for with what blocking streams were given before, and not with what others were, nor what was destroyed at work",
  {},
  async ({ path }) => {
    using folder = temporary();
    const target = { argv: [join(built.gpu.protected, "streams"), ...[BEHIND, APART, DESTROYED].map(String)] };
    await using llmprof = startLlmprof("gpu", { bpftrace: path, folder, target });
    const { result } = summaryOf("gpu", await llmprof.finished());
    // One gap more from each of the two waits that are for all that is left.
    assert.deepEqual([result.gaps.count, result.gaps.abandoned], [BEHIND + 2, DESTROYED]);
    assert.deepEqual([result.totals.launches, result.totals.syncs], [2 * (BEHIND + APART + DESTROYED) + 1, BEHIND + APART + DESTROYED + 2]);
  },
);

const BY_EVENTS = 19, BY_COPIES = 13;

sampledTest(
  1,
  "gpu: streams that were made before llmprof came, on another GPU than that of who asks for something of them: a wait for this GPU is none for them",
  {},
  async ({ path }) => {
    using folder = temporary();
    const go = folder.file("go");
    await using target = start([join(built.gpu.protected, "elsewhere"), String(BY_EVENTS), String(BY_COPIES)], { env: { GPU_GO: go } });
    await target.saw("ready");
    await using llmprof = startLlmprof("gpu", { bpftrace: path, folder, target: { pid: target.pid } });
    await llmprof.saw(/Tracing process/);
    Deno.writeTextFileSync(go, "");
    const { result } = summaryOf("gpu", await llmprof.finished());
    assert.equal(result.gaps.count, BY_EVENTS + BY_COPIES);
    assert.deepEqual([result.totals.launches, result.totals.syncs], [2 * (BY_EVENTS + BY_COPIES) + 1, 2 * (BY_EVENTS + BY_COPIES)]);
  },
);

const CALLS_IN_ORDER = 3001;

sampledTest(
  1,
  "gpu: streams that wait for each other's events, and for the default stream, in an order that is drawn: gaps before the kernels that had one",
  {},
  async ({ path }) => {
    using folder = temporary();
    const target = { argv: [join(built.gpu.protected, "ordered"), String(CALLS_IN_ORDER), String(Math.ceil(Math.random() * 1e6))] };
    await using llmprof = startLlmprof("gpu", { bpftrace: path, folder, target, formats: allFormats });
    const ended = await llmprof.finished();
    const reckoned = JSON.parse(ended.stderr.split("\n").find((line) => line.startsWith('{"after gaps"'))!);
    const { result } = summaryOf("gpu", ended), trace = outputPath(folder, "jsonl");
    const launches = toldCalls(trace, "cuda").filter(({ func }) => func === "cuLaunchKernel");
    const ends = new Set(
      linesOf(trace).map((line) => JSON.parse(line)).filter(({ category }) => category === "gpu.gap").map(({ end }) => BigInt(end)),
    );
    const after = launches.flatMap(({ start }, i) => ends.has(start) ? [i] : []);
    assert.ok(after.length > 20, `${after.length} gaps`);
    assert.deepEqual([launches.length, after, ends.size], [reckoned.launches, reckoned["after gaps"], after.length], target.argv.join(" "));
    const { count, processes: [process] } = result.gaps;
    assert.equal(count + process!.pauses, after.length);
  },
);

const LAUNCHES = 17, HANGS_NS = 2.5e9;

for (const how of ["when counting ends", "when its process ends"] as const) {
  sampledTest(1, `gpu: a call that does not return is told ${how}, with how long it has lasted`, {}, async (bpftrace) => {
    const { path } = bpftrace;
    using folder = temporary();
    const isCut = how === "when counting ends";
    const target = { argv: [join(built.gpu.protected, "hangs"), String(LAUNCHES), String((isCut ? 3 : 1) * HANGS_NS / 1e6)] };
    const flags = ["--cuda-jsonl", folder.file("calls.jsonl"), ...isCut ? ["--duration", `${HANGS_NS / 1e9}s`] : []];
    await using llmprof = startLlmprof("gpu", { bpftrace: path, folder, target, flags, formats: allFormats });
    const ended = await llmprof.finished();
    const { result } = summaryOf("gpu", ended);
    assert.deepEqual([result.totals.launches, result.totals.syncs], [LAUNCHES, LAUNCHES]);
    assert.deepEqual(await differingReplays(folder, ["pftrace", "json", "jsonl"]), []);
    if (!walksMaps(bpftrace)) return assert.deepEqual(result.unfinished, []);
    const told = result.unfinished.map(({ family, name, calls }) => `${family} ${name} ${calls}`).sort();
    assert.deepEqual(told, ["cuda cuStreamSynchronize 2", "cudart cudaStreamSynchronize 1"]);
    const open = linesOf(folder.file("calls.jsonl")).map((line) => JSON.parse(line)).filter(({ ret }) => ret === undefined);
    assert.deepEqual(open.map(({ func }) => func).sort(), ["cuStreamSynchronize", "cuStreamSynchronize", "cudaStreamSynchronize"]);
    assert.equal(Math.max(...open.map(({ dur }) => dur)), Math.max(...result.unfinished.map(({ longestNs }) => longestNs)) / 1e6);
    const said = ended.stderr.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
    const end = isCut ? Number(watchedTurns(outputPath(folder, "jsonl"))[0]!.closed) : said.find(({ ends }) => ends !== undefined).ends;
    for (const { longestNs, pid, tid } of result.unfinished) {
      const lasted = end - said.find(({ waits }) => waits === tid).at;
      assert.ok(Math.abs(longestNs - lasted) < 0.1 * HANGS_NS && tid !== pid, `${longestNs / 1e6} ms, ${lasted / 1e6} by its own clock`);
    }
  });
}

const KERNELS = 101;

/** What is told where parcagpu's stand-in tells of kernels. */
async function injected({ path }: Bpftrace) {
  using folder = temporary();
  const target = { argv: [join(built.gpu.protected, "injected"), String(KERNELS)] };
  await using llmprof = startLlmprof("gpu", { bpftrace: path, folder, target });
  return summaryOf("gpu", await llmprof.finished());
}

markersTest("gpu: kernels on the GPU, where a marker of parcagpu tells of them, each as long as it was", true, async (bpftrace) => {
  const { result } = await injected(bpftrace);
  const lengths = (first: number) => Array.from({ length: KERNELS }, (_, i) => i + 1).filter((i) => i % 2 === first).map((i) => 1000 * i);
  const of = (first: number) => ({
    runs: lengths(first).length,
    totalNs: lengths(first).reduce((sum, ns) => sum + ns),
    maxNs: lengths(first).at(-1),
  });
  assert.deepEqual(result.executed!.map(({ name, runs, totalNs, maxNs }) => ({ name, runs, totalNs, maxNs })), [
    { name: `mul_mat_q<${Array(25).fill(2).join(", ")}>`, ...of(1) },
    { name: "rms_norm_f32", ...of(0) },
  ]);
});

markersTest(
  "gpu: of kernels that a marker of parcagpu tells of a note says that this bpftrace sees none, and which one does",
  false,
  async (bpftrace) => {
    const { result, notes } = await injected(bpftrace);
    assert.equal(result.executed, null);
    assert.ok(notes.some((note) => note.includes("parcagpu:kernel_executed") && note.includes("needs bpftrace 0.27")), notes.join());
  },
);

/**
 * What a call into a GPU's library costs under `llmprof gpu`. A program launches kernels with a stand-in for CUDA's driver:
 *
 * 1. as fast as it can, with nothing, with a bpftrace that counts the calls and nothing else, with one that counts their ends as well, and under `llmprof
 *    gpu`, in turns;
 * 2. with a walk through memory between two launches, so that a call finds the caches as an engine leaves them: measured in turns, and foretold by llmprof,
 *    where functions begin with `push` and where they begin with `endbr64`;
 * 3. at a rate, of which it is told how many came.
 *
 *     deno run -A tests/bench/launches.ts [--rounds 9] [--bpftrace 0.23] [--rate 100000] [--seconds 20]
 *
 * Prints nanoseconds of CPU time that each adds to a call. Wanted: where functions begin with `push`, `gpu` takes at most 1.5 µs more than counting both ends;
 * every call is told or counted as lost, and with a ring buffer 99 of 100 are told. Ends with 1 where it is otherwise.
 */
import { parseArgs } from "node:util";
import { join } from "node:path";
import { readMeans } from "../../lib/commands/means.ts";
import { bpftraceNamed } from "../harness/bpftraces.ts";
import { run, start } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import { startLlmprof, summaryOf } from "../kernel/live_run.ts";
import { built } from "../setup/programs.ts";
import { judged } from "./judged.ts";
import { compare, nothing, ours, type Watch } from "./watching.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "9" },
    bpftrace: { type: "string", default: "0.23" },
    rate: { type: "string", default: "100000" },
    seconds: { type: "string", default: "20" },
  },
});
const bpftrace = bpftraceNamed(values.bpftrace);
const rounds = Number(values.rounds);
/** Most of a Xeon's second-level cache, and all of a smaller one. */
const WALK_KIB = "1536";
const MOST_MORE_NS = 1500, LEAST_KEPT = 0.99;

const gpu = ours(bpftrace, "gpu", ["--no-output"]);
/** Traps that only count, where calls begin, or where they begin and end. */
const counting = (folder: string, ...kinds: readonly string[]): Watch => async () => {
  const place = `:"${join(folder, "libcuda.so.1")}":"cuLaunchKernel"`;
  const program = `BEGIN { print("ready"); } ${kinds.map((kind) => `${kind}${place} { @n = count(); }`).join(" ")}`;
  const running = start([bpftrace.path, "-q", "-e", program], { timeoutMilliseconds: 120_000 });
  await running.saw("ready");
  return {
    async end() {
      running.kill("SIGINT");
      await running.finished();
      return "";
    },
  };
};
const said = (stdout: string): { calls: number; ns: number } => JSON.parse(stdout);
const work = (command: string) => ({
  command,
  step: "a call",
  steps: (stdout: string) => said(stdout).calls,
  nanoseconds: (stdout: string) => said(stdout).ns,
});

// It says by its exit code what else this machine lacks.
await run([...llmprof, "doctor", "--calibrate", "--bpftrace", bpftrace.path]);
for (const [name, folder] of Object.entries({ push: built.gpu.quiet.plain, endbr64: built.gpu.quiet.protected })) {
  const launching = join(folder, "launching");
  const all = { nothing, counting: counting(folder, "uprobe"), "counting both ends": counting(folder, "uprobe", "uretprobe"), gpu };
  console.log(`functions begin with ${name}: one launch after another`);
  more(await compare(all, rounds, work(`${launching} 0 2000`)), name);
  console.log(`functions begin with ${name}: a walk through ${WALK_KIB} KiB between launches`);
  more(await compare(all, rounds, work(`${launching} 0 2000 ${WALK_KIB}`)), name);
  const { overhead, ns } = await launched([launching, "0", "4000", WALK_KIB]);
  console.log(`foretold: ${Math.round(ns * overhead.predicted! / (1 + overhead.predicted!))} ns a call\n`);
}

const { calls, told, events } = await launched([join(built.gpu.quiet.plain, "launching"), values.rate, String(1000 * Number(values.seconds))]);
const { features } = (await readMeans(bpftrace.path)).machine.bpftrace!;
const kept = `${(100 * told / calls).toFixed(2)} % told`;
console.log(`at ${values.rate} a second for ${values.seconds} s, ${events.emitted} events:`);
console.log(judged(`called ${calls} = told ${told} + lost ${events.lost}`, calls === told + events.lost));
console.log(features.ringbuf ? judged(`${kept}, ${100 * LEAST_KEPT} % at least`, told >= LEAST_KEPT * calls) : kept);

/** What a call takes under `gpu` beyond what it does where it is only counted. On `endbr64`, where `gpu` places nothing, counting takes longer. */
function more(ns: ReadonlyMap<string, number>, begin: string): void {
  const than = (other: string) => Math.round(ns.get("gpu")! - ns.get(other)!), both = than("counting both ends");
  console.log(`gpu: ${than("counting")} ns more than counting`);
  const figure = `gpu: ${both} ns more than counting both ends`;
  console.log(begin === "push" ? judged(`${figure} (${MOST_MORE_NS} at most)`, both <= MOST_MORE_NS) : figure);
}

/** What the program says that it did, and what llmprof says. */
async function launched(argv: readonly string[]) {
  using folder = temporary();
  const options = { bpftrace: bpftrace.path, folder, target: { argv }, formats: [], flags: ["--no-output"], timeoutMilliseconds: 300_000 };
  await using running = startLlmprof("gpu", options);
  const ended = await running.finished();
  const { result, events, overhead } = summaryOf("gpu", ended);
  const said: { calls: number; ns: number } = JSON.parse(ended.stderr.split("\n").find((line) => line.startsWith('{"calls"'))!);
  return { ...said, events, overhead, told: result.functions.find(({ name }) => name === "cuLaunchKernel")!.calls };
}

/**
 * What a call into a GPU's library costs under `llmprof gpu`. A program launches kernels with a stand-in for CUDA's driver:
 *
 * 1. as fast as it can, with nothing, with a bpftrace that counts the calls and nothing else, with one that counts their ends as well, with what llmprof does
 *    where a call begins and nothing else, and under `llmprof gpu`, in turns;
 * 2. with a walk through memory between two launches, so that a call finds the caches as an engine leaves them, less what such a walk takes alone: measured
 *    in turns, and foretold by llmprof, where functions begin with `push` and where they begin with `endbr64`;
 * 3. at a rate, of which it is told how many came.
 *
 *     deno run -A tests/bench/launches.ts [--rounds 9] [--bpftrace 0.23] [--rate 100000] [--seconds 20] [--only push|endbr64|rate]
 *
 * Prints nanoseconds of CPU time that each adds to a call. Wanted: where functions begin with `push`, a beginning alone takes at most 0.6 µs more than
 * counting it, and `gpu` 1.5 µs more than counting both ends; what `gpu` adds behind a walk, and what a beginning adds that stands on `endbr64`, is foretold
 * within a fifth; every call is told or counted as lost, and with a ring buffer 99 of 100 are told. Ends with 1 where it is otherwise.
 */
import { parseArgs } from "node:util";
import { join } from "node:path";
import { readCalibration } from "../../lib/commands/calibrated.ts";
import { readMeans } from "../../lib/commands/means.ts";
import { bpftraceNamed } from "../harness/bpftraces.ts";
import { run } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import { startLlmprof, summaryOf } from "../kernel/live_run.ts";
import { built } from "../setup/programs.ts";
import { judged } from "./judged.ts";
import { launchBeginnings } from "./launch_beginnings.ts";
import { differences } from "./statistics.ts";
import { compare, nothing, ours, program } from "./watching.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "9" },
    bpftrace: { type: "string", default: "0.23" },
    rate: { type: "string", default: "100000" },
    seconds: { type: "string", default: "20" },
    only: { type: "string" },
  },
});
const bpftrace = bpftraceNamed(values.bpftrace);
const rounds = Number(values.rounds);
/** Most of a Xeon's second-level cache, and all of a smaller one. */
const WALK_KIB = "1536";
const MOST_MORE_NS = { beginnings: 600, gpu: 1500 }, LEAST_KEPT = 0.99, FORETOLD_WITHIN = 0.2;

const gpu = ours(bpftrace, "gpu", ["--no-output"]);
const launch = (folder: string) => `uprobe:"${join(folder, "libcuda.so.1")}":"cuLaunchKernel"`;
/** Traps that only count, where calls begin, or where they begin and end. */
const counting = (folder: string, ...kinds: readonly string[]) => {
  const counts = kinds.map((kind) => `${launch(folder).replace("uprobe", kind)} { @n = count(); }`);
  return program(bpftrace, () => `BEGIN { print("ready"); } ${counts.join(" ")}`);
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
const means = await readMeans(bpftrace.path);
const { emulated, stepped } = await readCalibration(means, 0, "kept", () => {}, Promise.resolve());
const builds = { push: { folder: built.gpu.quiet.plain, trap: emulated }, endbr64: { folder: built.gpu.quiet.protected, trap: stepped } };
for (const [name, { folder, trap }] of Object.entries(builds).filter(([name]) => isWanted(name))) {
  const launching = join(folder, "launching");
  const all = {
    nothing,
    counting: counting(folder, "uprobe"),
    "counting both ends": counting(folder, "uprobe", "uretprobe"),
    beginnings: program(bpftrace, (pid) => launchBeginnings(means, pid, launch(folder))),
    gpu,
  };
  console.log(`functions begin with ${name}: one launch after another`);
  more(await compare(all, rounds, work(`${launching} 0 2000`)), name);
  console.log(`functions begin with ${name}: a walk through ${WALK_KIB} KiB between launches`);
  const ns = await compare(all, rounds, work(`${launching} 0 2000 ${WALK_KIB}`));
  more(ns, name);
  const { overhead, all: took } = await launched([launching, "0", "4000", WALK_KIB]);
  foretold("gpu", took * overhead.predicted! / (1 + overhead.predicted!), ns);
  foretold("beginnings", trap, ns);
}
if (isWanted("rate")) await atRate();

/** Nanoseconds of a call under each, of every round. */
type Rounds = Awaited<ReturnType<typeof compare>>;

function isWanted(what: string): boolean {
  return values.only === undefined || values.only === what;
}

async function atRate(): Promise<void> {
  const { calls, told, events } = await launched([join(built.gpu.quiet.plain, "launching"), values.rate, String(1000 * Number(values.seconds))]);
  const kept = `${(100 * told / calls).toFixed(2)} % told`;
  console.log(`at ${values.rate} a second for ${values.seconds} s, ${events.emitted} events:`);
  console.log(judged(`called ${calls} = told ${told} + lost ${events.lost}`, calls === told + events.lost));
  console.log(means.machine.bpftrace!.features.ringbuf ? judged(`${kept}, ${100 * LEAST_KEPT} % at least`, told >= LEAST_KEPT * calls) : kept);
}

/** What a call takes beyond what it does where it is only counted. On `endbr64`, where `gpu` places nothing, counting takes longer. */
function more(ns: Rounds, begin: string): void {
  for (const [what, than] of [["beginnings", "counting"], ["gpu", "counting both ends"]] as const) {
    const most = MOST_MORE_NS[what], added = Math.round(differences(ns.get(what)!, ns.get(than)!).median);
    const figure = `${what}: ${added} ns more than ${than}`;
    console.log(begin === "push" ? judged(`${figure} (${most} at most)`, added <= most) : figure);
  }
}

/** What it adds to a call, beside what that was to be. */
function foretold(what: string, expected: number, ns: Rounds): void {
  const added = differences(ns.get(what)!, ns.get("nothing")!).median;
  const figure = `${what}: ${Math.round(added)} ns a call, foretold ${Math.round(expected)} (within ${100 * FORETOLD_WITHIN} %)`;
  console.log(judged(figure, Math.abs(expected - added) <= FORETOLD_WITHIN * added));
}

/** What the program says that it did, and what llmprof says. */
async function launched(argv: readonly string[]) {
  using folder = temporary();
  const options = { bpftrace: bpftrace.path, folder, target: { argv }, formats: [], flags: ["--no-output"], timeoutMilliseconds: 300_000 };
  await using running = startLlmprof("gpu", options);
  const ended = await running.finished();
  const { result, events, overhead } = summaryOf("gpu", ended);
  const said: { calls: number; ns: number; all: number } = JSON.parse(ended.stderr.split("\n").find((line) => line.startsWith('{"calls"'))!);
  return { ...said, events, overhead, told: result.functions.find(({ name }) => name === "cuLaunchKernel")!.calls };
}

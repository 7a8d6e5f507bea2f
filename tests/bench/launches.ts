/**
 * What a call into a GPU's library costs under `llmprof gpu`: a program launches kernels with a stand-in for CUDA's driver, as fast as it can, with nothing,
 * with a bpftrace that counts the calls and nothing else, and under `llmprof gpu`, in turns; then at a rate, of which it is told how many came.
 *
 *     deno run -A tests/bench/launches.ts [--rounds 9] [--bpftrace 0.23] [--rate 100000] [--seconds 20]
 *
 * The function begins with `push`, which the kernel emulates. Prints nanoseconds of CPU time that each adds to a call.
 */
import { parseArgs } from "node:util";
import { join } from "node:path";
import { bpftraces } from "../harness/bpftraces.ts";
import { start } from "../harness/command.ts";
import { temporary } from "../harness/temporary.ts";
import { startLlmprof, summaryOf } from "../kernel/live_run.ts";
import { built } from "../setup/programs.ts";
import { compare, nothing, ours, type Watch } from "./watching.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "9" },
    bpftrace: { type: "string", default: "0.23" },
    rate: { type: "string", default: "100000" },
    seconds: { type: "string", default: "20" },
  },
});
const bpftrace = bpftraces().find(({ name }) => name === values.bpftrace);
if (!bpftrace) throw new Error(`No bpftrace ${values.bpftrace} is here.`);

const launching = join(built.gpu.quiet, "launching");
const counting: Watch = async () => {
  const program = `BEGIN { print("ready"); } uprobe:"${join(built.gpu.quiet, "libcuda.so.1")}":"cuLaunchKernel" { @n = count(); }`;
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
await compare({ nothing, counting, gpu: ours(bpftrace, "gpu", ["--no-output"]) }, Number(values.rounds), {
  command: `${launching} 0 2000`,
  step: "a call",
  nanoseconds: (stdout) => JSON.parse(stdout).ns,
});

using folder = temporary();
const target = { argv: [launching, values.rate, String(1000 * Number(values.seconds))] };
await using llmprof = startLlmprof("gpu", {
  bpftrace: bpftrace.path,
  folder,
  target,
  formats: [],
  flags: ["--no-output"],
  timeoutMilliseconds: 300_000,
});
const ended = await llmprof.finished();
const { result, events } = summaryOf("gpu", ended);
const made: number = JSON.parse(ended.stderr.split("\n").find((line) => line.startsWith('{"calls"'))!).calls;
const told = result.functions.find(({ name }) => name === "cuLaunchKernel")!.calls;
console.log(
  `at ${values.rate} a second for ${values.seconds} s: ${made} calls, ${told} told (${
    (100 * told / made).toFixed(2)
  } %), ${events.lost} of ${events.emitted} events lost`,
);

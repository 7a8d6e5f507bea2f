/** Whatever ends llmprof while it measures the machine: no file of what is measured with stays. */
import assert from "node:assert/strict";
import { measuringText } from "../../lib/session/status.ts";
import type { Bpftrace } from "../harness/bpftraces.ts";
import { start } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { llmprof } from "../harness/llmprof.ts";
import { aWhile, needs, nothing } from "./fault_tests.ts";
import { faultyRun, filesInTmp } from "./faulty_run.ts";
import { row, until } from "./processes.ts";

for (const [index, signal] of (["SIGINT", "SIGKILL"] as const).entries()) {
  const test = async ({ path: bpftrace }: Bpftrace) => {
    const before = filesInTmp();
    await using doctor = start([...llmprof, "doctor", "--bpftrace", bpftrace, "--calibrate"]);
    await doctor.saw(measuringText);
    const made = () => filesInTmp().filter((name) => !before.includes(name));
    const mine = await until("something is measured", () => made().some((name) => name.includes("/llmprof-calibration-")) && made());
    await aWhile();
    doctor.kill(signal);
    assert.equal((await doctor.finished()).signal, signal);
    await until("nothing is left", () => mine.every((name) => !filesInTmp().includes(name)));
  };
  sampledTest(index, `doctor --calibrate is ended by ${signal} and leaves no file`, needs, test);
}

const calibrating = async ({ path: bpftrace }: Bpftrace) => {
  await using run = await faultyRun({ bpftrace, by: "pid", flags: ["--calibrate"] });
  await run.llmprof.saw(measuringText);
  await aWhile();
  run.typed("SIGINT");
  // To the end it would take eight seconds, and the ceilings one for each number of threads.
  await until("llmprof ends", () => row(run.llmprof.pid) === undefined, 7000);
  await run.end(nothing);
};
sampledTest(0, "Ctrl-C while it measures the machine ends that", needs, calibrating);

/** Who is to stand until its probes are attached, and is continued by somebody else: of all that it does then nothing is missing. */
import assert from "node:assert/strict";
import { sampledTest } from "../../harness/kernel.ts";
import { temporary } from "../../harness/temporary.ts";
import { parseEngineLog } from "../../workloads/engine_log.ts";
import { engineCommand } from "../../workloads/engine_run.ts";
import { model } from "../../workloads/model.ts";
import { readSteadyLog } from "../../workloads/steady.ts";
import { aWhile, continuedBy, needs, stopped } from "../fault_tests.ts";
import { assertSame, type FaultyRun, faultyRun } from "../faulty_run.ts";
import { outputPath, startLlmprof, summaryOf } from "../live_run.ts";
import { processTable, row, until } from "../processes.ts";
import { decodesIn } from "../trace_decodes.ts";

/** `other`: the trace of another llmprof that watches the target, when that has ended. */
async function seesAll(bpftrace: string, stranger: (run: FaultyRun) => void | Promise<void>, other?: () => Promise<string>): Promise<void> {
  await using run = await faultyRun({ bpftrace, by: "start" });
  await run.at("gate");
  await stranger(run);
  await run.at("counting");
  const { seenUntil, ...how } = stopped(run, "SIGINT");
  await run.end({ ...how, seenUntil, target: "ended" });
  const calls = readSteadyLog(run.folder.file("log")).calls.filter(({ end }) => end < seenUntil!);
  for (const path of [outputPath(run.folder, "pftrace"), ...other ? [await other()] : []]) assertSame(await decodesIn(path), calls, path);
  // The other llmprof may let it go at the very moment at which this one has attached and looks whether it stands: then that is noted, and nothing is missing.
  if (other) return;
  assert.doesNotMatch((await run.llmprof.finished()).stdout.replaceAll(/\s+/g, " "), continuedBy(".*"));
}

sampledTest(0, "a program at the gate that somebody continues stands again, and its first calls are in the trace", needs, async ({ path }) => {
  await seesAll(path, (run) => Deno.kill(run.target(), "SIGCONT"));
});

sampledTest(1, "Ctrl-Z and fg while a program that llmprof started stands at the gate: its first calls are in the trace", needs, async ({ path }) => {
  await seesAll(path, async (run) => {
    run.typed("SIGSTOP");
    await aWhile();
    run.typed("SIGCONT");
  });
});

sampledTest(1, "a program that two llmprofs stop stands for both: its first calls are in both traces", needs, async ({ path: bpftrace }) => {
  using folder = temporary();
  await using other = startLlmprof("coldstart", { bpftrace, folder, formats: ["jsonl"] });
  await other.saw("Waiting for the next");
  await seesAll(bpftrace, () => {}, async () => {
    assert.equal((await other.finished()).code, 0);
    return outputPath(folder, "jsonl");
  });
});

sampledTest(
  0,
  "an engine that has chosen its backend and that somebody continues stands again: all its graphs are seen",
  { engine: true },
  async ({ path: bpftrace }) => {
    using folder = temporary();
    const log = folder.file("log"), argv = engineCommand({ model: model("tiny"), prompt: 8, tokens: 20, log });
    await using llmprof = startLlmprof("operators", { bpftrace, folder, target: { argv }, formats: [] });
    await llmprof.saw("library mapped");
    const { pid } = processTable().find(({ pid, parent }) => parent === llmprof.pid && isRunBy(pid, argv))!;
    const stands = () => row(pid)?.state === "T";
    await until("the engine goes on", () => !stands());
    await until("the engine has chosen its backend", stands);
    Deno.kill(pid, "SIGCONT");
    const { result, notes, events } = summaryOf("operators", await llmprof.finished());
    const { decodes } = parseEngineLog(Deno.readTextFileSync(log));
    assert.deepEqual([result.graphs.count, result.graphs.withoutOperators, events.lost], [decodes, 0, 0]);
    assert.deepEqual(notes.filter((note) => / was continued by /.test(note)), []);
  },
);

/** The very process that does the work; not one that is gone by now. */
function isRunBy(pid: number, argv: readonly string[]): boolean {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/cmdline`) === argv.map((word) => `${word}\0`).join("");
  } catch {
    return false;
  }
}

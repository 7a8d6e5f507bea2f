import type { Bpftrace } from "../harness/bpftraces.ts";
import { heldBpftrace } from "../harness/held_bpftrace.ts";
import { matrixTest, sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { ranFor } from "./awake.ts";
import { type By, type Expected, type FaultyRun, faultyRun, type Stage } from "./faulty_run.ts";
import { processTable } from "./processes.ts";

export const needs = { gcc: true, judge: true };
export const formats = ["pftrace", "json", "jsonl", "pftrace.gz", "llmprof"];

export interface Case {
  readonly name: string;
  readonly by: By;
  readonly stage: Stage;
  /** What happens; returns what is expected beside the usual. */
  readonly fault: (run: FaultyRun) => Expected | Promise<Expected>;
  readonly formats?: readonly string[];
  readonly under?: readonly string[];
  /** Default: with one bpftrace of those that are here. */
  readonly often?: "every bpftrace" | "when asked";
}

export const killedEarly: Case["fault"] = ({ llmprof }) => {
  llmprof.kill("SIGKILL");
  // The empty file that was opened before anything else.
  return { code: 137, signal: "SIGKILL" };
};

/** Nobody is there any more whose number or name somebody would know. */
export const killedWithGuard: Case["fault"] = (run) => {
  Deno.kill(guardOf(run), "SIGKILL");
  return killedEarly(run);
};

export function guardOf({ llmprof }: FaultyRun): number {
  return processTable().find(({ name }) => name === `llmprof:${llmprof.pid}`)!.pid;
}

/** How a run ends that was told to before it counted. */
export const nothing = { code: 0, says: [/^Nothing was traced: llmprof was ended before it counted\.$/m], files: [] };

/** Everything that happened before is seen. */
export function stopped({ typed, now }: FaultyRun, signal: Deno.Signal): Expected {
  const seenUntil = now();
  typed(signal);
  return { code: 0, seenUntil, says: [/^Wrote /m] };
}

/** Longer than it may take from an event to the file. */
export const aWhile = () => ranFor(1500);

/** The note of a run whose target did not stand as long as it should have. */
export const continuedBy = (who: string) =>
  new RegExp(`Process \\d+ was continued by ${who} before probes were attached: what it did first may be missing`);

/** A shell's Ctrl-Z and `fg` while a program that llmprof started is to stand. */
export const broughtBack: Case["fault"] = async (run) => {
  run.typed("SIGSTOP");
  await aWhile();
  run.typed("SIGCONT");
  await run.at("counting");
  return { ...stopped(run, "SIGINT"), target: "ended", tells: [continuedBy("somebody")] };
};

/** A test of each. */
export function faultTests(cases: readonly Case[]): void {
  for (const [index, { name, by, stage, fault, often, ...options }] of cases.entries()) {
    const test = async ({ path: bpftrace }: Bpftrace) => {
      using folder = temporary();
      await using run = await faultyRun({ bpftrace: stage === "attaching" ? heldBpftrace(bpftrace, folder) : bpftrace, by, ...options });
      await run.at(stage);
      await run.end(await fault(run));
    };
    if (often === "every bpftrace") matrixTest(name, needs, test);
    else sampledTest(index, name, needs, test, often === "when asked");
  }
}

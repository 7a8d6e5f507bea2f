import type { SchedResult } from "../../lib/analysis/sched_schema.ts";
import type { Summary } from "../../lib/analysis/summary.ts";
import type { Temporary } from "../harness/temporary.ts";
import { built } from "../setup/programs.ts";
import { type Results, startLlmprof, summaryOf } from "./live_run.ts";
import { until } from "./processes.ts";
import { recordedFacts } from "./recorded.ts";
import { untilTold } from "./until_told.ts";

/** A run that was recorded, and what the program said. */
interface Told {
  readonly said: string;
  readonly recording: string;
}

/** What is found out of a program that is watched from before it begins, and what it says itself. `tasks`: control groups that it joins first. */
export async function toldBy<C extends "io" | "sched">(
  command: C,
  bpftrace: string,
  folder: Temporary,
  words: readonly string[],
  tasks: readonly string[] = [],
): Promise<Summary<Results[C]> & Told> {
  await using program = await untilTold(folder, [built.bottleneck, ...words]);
  const { pid } = program, recording = folder.file(`${crypto.randomUUID()}.llmprof`);
  for (const file of tasks) Deno.writeTextFileSync(file, String(pid));
  await using llmprof = startLlmprof(command, { bpftrace, folder, target: { pid }, formats: [], flags: ["-o", recording] });
  await llmprof.saw("Tracing");
  await until("the first look at what surrounds the program", () => recordedFacts(recording, "memory").length > 0);
  program.go();
  return { ...summaryOf(command, await llmprof.finished()), said: await program.said(), recording };
}

type Run = readonly [bpftrace: string, folder: Temporary, words: readonly string[], tasks?: readonly string[]];

export const told = (...run: Run) => toldBy("sched", ...run);

export async function resultOf(...run: Run): Promise<SchedResult> {
  return (await told(...run)).result;
}

export async function verdictOf(...run: Run): Promise<SchedResult["verdict"]> {
  return (await resultOf(...run)).verdict;
}

/** What the kernel says to each thread of itself. */
export interface Account {
  readonly tid: number;
  readonly on: number;
  readonly queued: number;
  readonly last: number;
  readonly processors: number;
}

export function accountsIn(said: string): Account[] {
  return said.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
}

export const share = (verdict: SchedResult["verdict"], wait: string) => verdict.find((row) => row.wait === wait)?.share ?? 0;

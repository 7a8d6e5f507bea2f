/**
 * Repeats what the kernel tests count, five times with every bpftrace that is here, and prints the figures: for a note, not for a gate. A row that
 * is not as it should be begins with `!`; the script then ends with 1. What independent programs count of a mixture, of graphs and of Vulkan is
 * repeated by the tests themselves.
 *
 *     deno run -A tests/kernel/acceptance.ts [--runs 5] [--bpftrace 0.23] [--only experts]
 */
import { parseArgs } from "node:util";
import { type Bpftrace, chosenBpftraces } from "../harness/bpftraces.ts";
import { temporary } from "../harness/temporary.ts";
import { countedRows } from "./counted_rows.ts";
import { operatorsPerGraph } from "./counted_run.ts";
import { plantedCalls } from "../workloads/planted.ts";
import { operatorMedians } from "./operator_medians.ts";
import { isExact, plantedRun } from "./planted_run.ts";
import { repeatedTests } from "./repeated_tests.ts";
import { asked, regularTurns } from "./regular_turns.ts";
import { replayMemory } from "./replay_memory.ts";

const { values } = parseArgs({ options: { runs: { type: "string", default: "5" }, bpftrace: { type: "string" }, only: { type: "string" } } });
const runs = Number(values.runs);
const chosen = chosenBpftraces(values.bpftrace);
if (!(runs >= 1)) throw new Error("How often? acceptance.ts --runs 5");

function print(good: boolean, ...cells: readonly (string | number)[]): void {
  if (!good) Deno.exitCode = 1;
  console.log([good ? " " : "!", ...cells].join("  "));
}

async function counted(bpftrace: Bpftrace): Promise<void> {
  console.log(`  bpftrace ${bpftrace.name}: ${await operatorsPerGraph(bpftrace.path)} operators a graph by the independent count`);
  for await (const { exact, stoppedMs, cells } of countedRows(bpftrace, runs)) print(exact && stoppedMs <= 1000, ...cells);
}

async function planted(bpftrace: Bpftrace): Promise<void> {
  for (const by of ["start", "wait"] as const) {
    for (let run = 1; run <= runs; run++) {
      const { phases, decodes, stoppedMs } = await plantedRun(bpftrace.path, by, run);
      const good = phases.every(isExact) && decodes === plantedCalls;
      const cells = phases.map(({ phase, logged, found }) => `${phase} ${found.toFixed(1)}/${logged.toFixed(1)}`);
      print(good, `${bpftrace.name} planted by ${by} ${run}/${runs}`, ...cells, `calls ${decodes}`, `stopped ${stoppedMs.toFixed(0)} ms`);
    }
  }
}

/**
 * Tests of what an engine that is walked by another program computes: experts, nodes and edges, what is where on a device and copied to it, and less of that
 * after advice.
 */
const walked = {
  experts: ["experts_test.ts", /^experts: /],
  graphs: ["graphs_test.ts", /^operators: every (edge|node) of/],
  offload: ["offload_test.ts", /^offload: /],
  advice: ["offload_options_test.ts", /^offload: /],
} as const;

function repeated(what: keyof typeof walked): () => Promise<void> {
  const [file, names] = walked[what];
  return each(`${what}: tests that another program's count agrees with, and how often`, async (bpftrace) => {
    for (const { name, passed, failures } of await repeatedTests(file, names, bpftrace, runs)) {
      print(passed === runs, `${passed}/${runs}`, name);
      for (const failure of failures) console.error(failure);
    }
  });
}

/** What is attached before all is sees more; what attaching takes is taken from the rest, and adds up to nothing. */
async function turns({ name, path }: Bpftrace): Promise<void> {
  const { windows, lengths, late, lost } = await regularTurns(path);
  const areLong = lengths.every((ms) => Math.abs(ms / asked.forMs - 1) <= 0.25);
  const areRegular = late.every((ms) => Math.abs(ms) < (asked.everyMs - asked.forMs) / 2);
  const listed = (found: readonly number[]) => found.map((ms) => (ms / 1000).toFixed(2)).join(" ");
  const good = windows === asked.turns && lengths.length === asked.turns && areLong && areRegular && lost === 0;
  print(good, `${name} turns ${lengths.length}=${asked.turns}`, `each ${listed(lengths)} s`, `late by ${listed(late)} s`, `lost ${lost}`);
}

async function medians(): Promise<void> {
  console.log("  medians in milliseconds by llmprof / by the operator's own function, of the same calls, and by how much llmprof's are longer");
  for (const { family, calls, ours, theirs, off, worst } of await operatorMedians(chosen.at(-1)!.path)) {
    const longer = `${(off * 100).toFixed(1)} %, one in twenty ${(worst * 100).toFixed(1)} % and more`;
    print(Math.abs(off) <= 0.05, family, `${ours.toFixed(3)}/${theirs.toFixed(3)}`, longer, `${calls} calls`);
  }
}

async function memory(): Promise<void> {
  using folder = temporary();
  const [short, long] = [await replayMemory(folder, 100_000), await replayMemory(folder, 1_000_000)];
  const more = (long.peakBytes - short.peakBytes) / 1e6;
  print(more <= 60, `replay of 1 M operators: ${more.toFixed(0)} MB more than of 100 k (${(short.peakBytes / 1e6).toFixed(0)} MB)`);
}

/** For each bpftrace of those chosen, below a line that says what it is. */
function each(what: string | undefined, measure: (bpftrace: Bpftrace) => Promise<void>): () => Promise<void> {
  return async () => {
    if (what !== undefined) console.log(`  ${what}`);
    for (const bpftrace of chosen) await measure(bpftrace);
  };
}

const kinds: Readonly<Record<string, () => Promise<void>>> = {
  counted: each(undefined, counted),
  experts: repeated("experts"),
  graphs: repeated("graphs"),
  offload: repeated("offload"),
  advice: repeated("advice"),
  turns: each(`a minute with ${asked.forMs} ms watched of every ${asked.everyMs}`, turns),
  planted: each("planted phases: milliseconds by llmprof / by their own log", planted),
  medians,
  memory,
};
const only = values.only;
if (only !== undefined && !(only in kinds)) throw new Error(`What of it? acceptance.ts --only ${Object.keys(kinds).join("|")}`);
for (const [kind, measure] of Object.entries(kinds)) if (only === undefined || kind === only) await measure();

/**
 * llmprof beside a BCC script that does the same job: an event for each operator, and a table of them at the end.
 *
 *     deno run -A tests/setup/setup.ts bcc && deno run -A tests/bench/bcc.ts [--model small] [--threads 1] [--pairs 12] [--bpftrace 0.23] [--window 3000]
 *
 * Both see the same engine, in windows in random order, each beside two in which nothing is attached (see overhead.ts). Printed of each: the CPU time
 * of a token by that without, events made and kept, from the command until it sees, from Ctrl-C until its table is there and until nothing of it is
 * left. Medians. llmprof also writes its trace while it runs; the script writes a Chrome trace at its end, after
 * the table, and knows nothing of graphs, tokens, layers or shapes.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { OperatorsResult } from "../../lib/analysis/operators_schema.ts";
import type { Summary } from "../../lib/analysis/summary.ts";
import { bpftraceNamed } from "../harness/bpftraces.ts";
import { type Running, start } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import { kernelHeaders, top } from "../harness/places.ts";
import { temporary } from "../harness/temporary.ts";
import { parseMaps } from "../../lib/target/maps.ts";
import { bpftracesOf, row, until } from "../kernel/processes.ts";
import type { ShapeName } from "../workloads/shapes.ts";
import { COMPILED_MS } from "./modes.ts";
import { middle } from "./statistics.ts";
import { comparedWindows, type Mode, type Pair } from "./windows.ts";

/** What the runs of one tool took and kept. */
interface Runs {
  readonly attachMs: number[];
  readonly tableMs: number[];
  readonly goneMs: number[];
  emitted: number;
  received: number;
}

interface Tool {
  readonly name: string;
  command(pid: number, folder: string): { readonly argv: readonly string[]; readonly env?: Record<string, string> };
  /** Printed when everything is attached. */
  readonly attached: string;
  /** Printed behind the table, or in it. */
  readonly table: RegExp;
  /** From its standard output. */
  counts(stdout: string): { readonly emitted: number; readonly received: number };
}

const ours = (bpftrace: string): Tool => ({
  name: "llmprof",
  command: (pid, folder) => ({
    argv: [...llmprof, "operators", "--bpftrace", bpftrace, "--pid", String(pid), "-o", `${folder}/run.pftrace`, "--summary", "json"],
  }),
  attached: "Tracing",
  table: /^\}$/m,
  counts: (stdout) => (JSON.parse(stdout) as Summary<OperatorsResult>).events,
});

const theirs: Tool = {
  name: "bcc",
  command: (pid, folder) => ({
    argv: ["/usr/bin/python3", join(top, "tests/bench/operators_bcc.py"), String(pid), libraryOf(pid), `${folder}/run.json`],
    env: { BCC_KERNEL_SOURCE: kernelHeaders },
  }),
  attached: "ready",
  table: /^\{.*\}$/m,
  counts: (stdout) => JSON.parse(stdout.trim().split("\n").at(-1)!),
};

function libraryOf(pid: number): string {
  const library = parseMaps(Deno.readTextFileSync(`/proc/${pid}/maps`)).find(({ path }) => /\/libggml-cpu[^/]*$/.test(path));
  if (!library) throw new Error(`Process ${pid} has no library of operators.`);
  return library.path;
}

/** The tool as a user starts it, for a window. */
function mode(tool: Tool, pairs: number, runs: Runs): Mode {
  return {
    name: tool.name,
    pairs,
    settleMs: COMPILED_MS,
    async attach(pid) {
      const folder = temporary();
      const { argv, env } = tool.command(pid, folder.path);
      const begun = performance.now();
      const running = start(argv, { env, timeoutMilliseconds: 600_000 });
      await running.saw(tool.attached);
      runs.attachMs.push(performance.now() - begun);
      return async () => {
        await end(tool, running, runs);
        folder[Symbol.dispose]();
      };
    },
  };
}

async function end(tool: Tool, running: Running, runs: Runs): Promise<void> {
  const children = bpftracesOf(running.pid);
  const asked = performance.now();
  running.kill("SIGINT");
  await running.saw(tool.table);
  runs.tableMs.push(performance.now() - asked);
  const { stdout } = await running.succeeded();
  await until("nothing of it is left", () => children.every((child) => row(child) === undefined), 60_000);
  runs.goneMs.push(performance.now() - asked);
  const { emitted, received } = tool.counts(stdout);
  runs.emitted += emitted;
  runs.received += received;
}

const { values } = parseArgs({
  options: {
    model: { type: "string", default: "small" },
    threads: { type: "string", default: "1" },
    pairs: { type: "string", default: "12" },
    window: { type: "string", default: "3000" },
    bpftrace: { type: "string", default: "0.23" },
  },
});
const bpftrace = bpftraceNamed(values.bpftrace);
const tools = [ours(bpftrace.path), theirs].map((tool): [Tool, Runs] => [tool, { attachMs: [], tableMs: [], goneMs: [], emitted: 0, received: 0 }]);
const pairs: Pair[] = [];
const modes = tools.map(([tool, runs]) => mode(tool, Number(values.pairs), runs));
const how = { model: values.model as ShapeName, threads: Number(values.threads), windowMs: Number(values.window) };
await comparedWindows(modes, how, (more) => void pairs.push(...more));
console.log(
  `bpftrace ${bpftrace.name}, model ${how.model}, threads ${how.threads}: ${middle(pairs.map(({ base }) => base)).median.toFixed(2)} ms CPU a token`,
);
const ms = (figures: readonly number[]) => `${middle(figures).median.toFixed(0)} ms`;
for (const [{ name }, { attachMs, tableMs, goneMs, emitted, received }] of tools) {
  const { median, low, high, count } = middle(pairs.filter(({ mode }) => mode === name).map(({ ratio }) => ratio));
  console.log(
    `  ${name.padEnd(7)} × ${median.toFixed(4)} (95 %: ${low.toFixed(4)} to ${high.toFixed(4)}, ${count} windows), ` +
      `${received} of ${emitted} events kept, attached after ${ms(attachMs)}, table ${ms(tableMs)} after Ctrl-C, gone after ${ms(goneMs)}`,
  );
}

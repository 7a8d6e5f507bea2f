/**
 * Is what llmprof says of an operator's bound true? By intervention: the operators of an engine that runs alone, beside a program that reads memory as fast
 * as it can, and beside one that multiplies in registers. What memory binds suffers from the reader more than from the multiplier.
 *
 *     deno run -A tests/bench/bounds.ts [--model small] [--rounds 5] [--bpftrace 0.23]
 *
 * Prints for each operator and kind of call what llmprof says, and its mean time beside each of the two, times that alone: medians of the rounds, each
 * against the run alone of its round. The engine runs on the first processor, the other program on the last. Where these are two threads of one core
 * both suffer from either; the difference between the two columns is what tells.
 */
import { parseArgs } from "node:util";
import type { OperatorsResult } from "../../lib/analysis/operators_schema.ts";
import type { Summary } from "../../lib/analysis/summary.ts";
import { ceilingsProgram, order } from "../../lib/machine/ceilings/program.ts";
import { bpftraceNamed } from "../harness/bpftraces.ts";
import { mustRun } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import type { ShapeName } from "../workloads/shapes.ts";
import { PinnedEngine } from "./pinned_engine.ts";
import { middle } from "./statistics.ts";

const { values } = parseArgs({
  options: { model: { type: "string", default: "small" }, rounds: { type: "string", default: "5" }, bpftrace: { type: "string", default: "0.23" } },
});
const bpftrace = bpftraceNamed(values.bpftrace);
const PROMPT = 64, FOREVER = 2 ** 50;
const beside = { "the reader": order("read16", 256 << 20, FOREVER), "the multiplier": order("sse", 4096, FOREVER) } as const;

await mustRun([...llmprof, "doctor", "--calibrate"], { timeoutMilliseconds: 120_000 });
using folder = temporary();
const program = folder.file("busy");
Deno.writeFileSync(program, ceilingsProgram(), { mode: 0o755 });
await using engine = await PinnedEngine.start(values.model as ShapeName, 1, { prompt: PROMPT });

/** Operator and kind of call → mean nanoseconds, and what is said of it. */
type Seen = Map<string, { readonly meanNs: number; readonly by: string }>;
const ratios = new Map<string, Record<keyof typeof beside, number[]>>();
const said = new Map<string, string>();
for (let round = 0; round < Number(values.rounds); round++) {
  const alone = await look();
  for (const [name, ordered] of Object.entries(beside)) {
    await using _busy = await busy(ordered);
    for (const [row, { meanNs }] of await look()) {
      const before = alone.get(row);
      if (!before) continue;
      said.set(row, before.by);
      const columns = ratios.get(row) ?? { "the reader": [], "the multiplier": [] };
      ratios.set(row, columns);
      columns[name as keyof typeof beside].push(meanNs / before.meanNs);
    }
  }
}
await engine.end();
console.table(Object.fromEntries([...ratios].map(([row, columns]) => {
  const figures = Object.entries(columns).map(([name, found]) => [`beside ${name}, times`, Number(middle(found).median.toFixed(3))]);
  return [row, { "bound by": said.get(row), ...Object.fromEntries(figures) }];
})));

/** Three seconds of the engine's operators; those that take at least a hundredth of the time. */
async function look(): Promise<Seen> {
  const flags = ["--pid", String(engine.pid), "--duration", "3s", "--no-output", "--summary", "json", "--bpftrace", bpftrace.path];
  const { stdout } = await mustRun([...llmprof, "operators", ...flags], { timeoutMilliseconds: 60_000 });
  const { result }: Summary<OperatorsResult> = JSON.parse(stdout);
  const rows = result.operators.flatMap((row) => (["prefill", "decode"] as const).map((phase) => ({ name: `${row.name} ${phase}`, ...row[phase] })));
  const large = rows.filter(({ meanNs, totalNs }) => meanNs !== null && totalNs >= 0.01 * result.time.graphNs!);
  return new Map(large.map(({ name, meanNs, bound }) => [name, { meanNs: meanNs!, by: bound?.by ?? "not told" }]));
}

async function busy(ordered: Uint8Array<ArrayBuffer>): Promise<AsyncDisposable> {
  const last = String(navigator.hardwareConcurrency - 1);
  const child = new Deno.Command("taskset", { args: ["--cpu-list", last, program], stdin: "piped", stdout: "piped" }).spawn();
  const [writer, reader] = [child.stdin.getWriter(), child.stdout.getReader()];
  await writer.write(ordered);
  await reader.read();
  await writer.write(new Uint8Array(1));
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
      await reader.cancel();
      await writer.abort().catch(() => {});
    },
  };
}

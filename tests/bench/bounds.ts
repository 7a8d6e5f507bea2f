/**
 * Is what llmprof says of an operator's bound true? By intervention: the operators of an engine that runs alone, beside a program that reads memory as fast
 * as it can, and beside one that multiplies in registers. What memory binds suffers from the reader more than from the multiplier.
 *
 *     deno run -A tests/bench/bounds.ts [--model floats] [--cached fewFloats] [--rounds 5] [--bpftrace 0.23]
 *
 * Prints for each operator and kind of call what llmprof says, and its mean time beside each of the two, times that alone: medians of the rounds, each
 * against the run alone of its round. The engine runs on the first processor, the other program on the last. Where these are two threads of one core
 * both suffer from either; the difference between the two columns is what tells.
 *
 * Wanted, on a machine that does nothing else: what is bound by memory in every run alone takes 1.2 times as long beside the reader, and is not bound by it
 * in the model whose weights fit into the cache; what is bound by computing takes 1.05 times as long at most; nothing is ever beyond its ceiling by more
 * than a twentieth, whether or not something is said to bind it. Ends with 1 where it is otherwise, or where nothing was called bound by either; with 2
 * where some were called bound by one thing in one round and by another in the next: these are not judged.
 */
import { parseArgs } from "node:util";
import type { BoundResult, OperatorsResult } from "../../lib/analysis/operators_schema.ts";
import type { Summary } from "../../lib/analysis/summary.ts";
import { ceilingsProgram, order } from "../../lib/machine/ceilings/program.ts";
import { bpftraceNamed } from "../harness/bpftraces.ts";
import { mustRun } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import type { ShapeName } from "../workloads/shapes.ts";
import { reached, verdictsOf } from "./bound_verdicts.ts";
import { PinnedEngine } from "./pinned_engine.ts";
import { middle } from "./statistics.ts";

const { values } = parseArgs({
  options: {
    model: { type: "string", default: "floats" },
    cached: { type: "string", default: "fewFloats" },
    rounds: { type: "string", default: "5" },
    bpftrace: { type: "string", default: "0.23" },
  },
});
const bpftrace = bpftraceNamed(values.bpftrace);
const PROMPT = 64, FOREVER = 2 ** 50;
/** The reader's memory is larger than the last-level cache of any of these machines. */
const beside = { reader: order("read16", 1 << 30, FOREVER), multiplier: order("sse", 4096, FOREVER) } as const;
type Beside = keyof typeof beside;

await mustRun([...llmprof, "doctor", "--calibrate"], { timeoutMilliseconds: 120_000 });
using folder = temporary();
const program = folder.file("busy");
Deno.writeFileSync(program, ceilingsProgram(), { mode: 0o755 });

/** What was seen of an operator in one kind of call. */
interface Row {
  /** What each run alone said. */
  readonly by: Set<string>;
  readonly ratios: Record<Beside, number[]>;
}
const rows = new Map<string, Row>();
/** The largest part of a ceiling that any of them came to, and those of which that is not known. */
let nearest = 0;
const unknown = new Set<string>();
{
  await using engine = await PinnedEngine.start(values.model as ShapeName, 1, { prompt: PROMPT });
  for (let round = 0; round < Number(values.rounds); round++) {
    const alone = await look(engine.pid);
    for (const [name, { by }] of alone) rowOf(name).by.add(by ?? "not told");
    for (const [other, ordered] of Object.entries(beside)) {
      await using _busy = await busy(ordered);
      for (const [name, { meanNs }] of await look(engine.pid)) {
        const before = alone.get(name);
        if (before) rowOf(name).ratios[other as Beside].push(meanNs / before.meanNs);
      }
    }
  }
  await engine.end();
}
await using engine = await PinnedEngine.start(values.cached as ShapeName, 1, { prompt: PROMPT });
const cached = await look(engine.pid);
await engine.end();

const told = [...rows].map(([name, { by, ratios: { reader, multiplier } }]) => {
  return { name, by: [...by].sort(), reader: middle(reader).median, multiplier: middle(multiplier).median };
});
const times = (ratio: number) => `× ${ratio.toFixed(3)}`;
for (const { name, by, reader, multiplier } of told) {
  console.log(`${name}, bound by: ${by.join(", ")}; ${times(reader)} beside the reader, ${times(multiplier)} beside the multiplier`);
}
if (unknown.size > 0) console.log(`not known, or only the most of it, is what these ask for: ${[...unknown].sort().join(", ")}`);
for (const verdict of verdictsOf(told, (name) => cached.get(name)?.by, nearest)) console.log(verdict);

function rowOf(name: string): Row {
  const row = rows.get(name) ?? { by: new Set(), ratios: { reader: [], multiplier: [] } };
  rows.set(name, row);
  return row;
}

/** Three seconds of the engine's operators: by operator and kind of call, those that take at least a hundredth of the time. */
async function look(pid: number): Promise<Map<string, { readonly meanNs: number; readonly by: BoundResult["by"] | undefined }>> {
  const flags = ["--pid", String(pid), "--duration", "3s", "--no-output", "--summary", "json", "--bpftrace", bpftrace.path];
  const { stdout } = await mustRun([...llmprof, "operators", ...flags], { timeoutMilliseconds: 60_000 });
  const { result }: Summary<OperatorsResult> = JSON.parse(stdout);
  const rows = result.operators.flatMap((row) => (["prefill", "decode"] as const).map((phase) => ({ name: `${row.name} ${phase}`, ...row[phase] })));
  const large = rows.filter(({ meanNs, totalNs }) => meanNs !== null && totalNs >= 0.01 * result.time.graphNs!);
  for (const row of large) {
    const part = reached(row, result.ceilings);
    if (part === null) unknown.add(row.name);
    else nearest = Math.max(nearest, part);
  }
  return new Map(large.map(({ name, meanNs, bound }) => [name, { meanNs: meanNs!, by: bound?.by }]));
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

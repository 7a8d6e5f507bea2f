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
 * than a twentieth. Ends with 1 where it is otherwise, or where nothing was called bound by either.
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
import { judged } from "./judged.ts";
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
const LEAST_OF_MEMORY = 1.2, MOST_OF_COMPUTE = 1.05, MOST_OF_CEILING = 1.05;

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
/** The largest part of an operator's time that its ceiling accounts for, of all that was told. */
let nearest = 0;
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
  return { name, by: [...by].sort().join(", "), reader: middle(reader).median, multiplier: middle(multiplier).median };
});
const times = (ratio: number) => `× ${ratio.toFixed(3)}`;
for (const { name, by, reader, multiplier } of told) {
  console.log(`${name}, bound by: ${by}; ${times(reader)} beside the reader, ${times(multiplier)} beside the multiplier`);
}
for (const { name, by, reader } of told) {
  const figure = `${name}, bound by ${by}: ${times(reader)} beside the reader`;
  if (by === "memory") {
    console.log(judged(`${figure} (${LEAST_OF_MEMORY} at least)`, reader >= LEAST_OF_MEMORY));
    const inCache = cached.get(name)?.by;
    const isOther = inCache !== undefined && inCache !== "memory";
    console.log(judged(`${name} with weights that fit the cache, bound by: ${inCache ?? "not told"}`, isOther));
  }
  if (by === "compute") console.log(judged(`${figure} (${MOST_OF_COMPUTE} at most)`, reader <= MOST_OF_COMPUTE));
}
const claims = told.filter(({ by }) => by === "memory" || by === "compute");
console.log(judged(`${claims.length} of ${told.length} were called bound by memory or by computing (1 at least)`, claims.length > 0));
console.log(judged(`the nearest to a ceiling: ${nearest.toFixed(3)} of it (${MOST_OF_CEILING} at most)`, nearest <= MOST_OF_CEILING));

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
  for (const { bound } of large) if (bound) nearest = Math.max(nearest, bound.moving, bound.computing);
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

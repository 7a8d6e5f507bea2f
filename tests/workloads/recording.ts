/**
 * Writes a recording of so many operators without running anything: for tests of how much a replay takes. The lines are those of the real
 * probes, by the schema that rendering them gives; the times and tensors are made up.
 *
 *     deno run -A tests/workloads/recording.ts PATH.llmprof 1000000
 */
import type { Header } from "../../lib/timeline/header.ts";
import type { Fact } from "../../lib/events/fact.ts";
import { render } from "../../lib/programs/render.ts";
import type { StreamSchema } from "../../lib/programs/schema.ts";
import { whoIs } from "../../lib/programs/who.ts";
import { beatLine, factLine, hostSchema } from "../../lib/timeline/host.ts";
import { RecordingWriter, type StreamWriter } from "../../lib/timeline/recording.ts";
import { graph } from "../../probes/ggml/graph.ts";
import { ops } from "../../probes/ggml/ops.ts";
import { calls } from "../../probes/llama/calls.ts";
import { recentDialect } from "../harness/dialect.ts";
import { seeded } from "../harness/spans.ts";

const operators = ["NONE", "ADD", "RMS_NORM", "MUL_MAT", "ROPE", "SOFT_MAX", "GLU"];
const layers = 23, perLayer = 8;
const perGraph = layers * perLayer;
/** The only worker: see probes/ggml/ops.ts. */
const [pid, worker] = [4242, 32 * 140432144700864];
/** Above 2^53, as after half a year without a restart. */
const base = 15_552_000_000_000_000n;
/** What an operator takes at least, and how much more it may. */
const opNs = 36_000n, jitterNs = 8192;
const beatNs = 100_000_000n;

/** Graphs of 184 operators on one worker, each inside a call of llama_decode, until there are so many operators. Returns the calls. */
export function writeRecording(path: string, opCount: number): number {
  const writer = RecordingWriter.create(path, header);
  const [ggml, llama] = [new Lines(writer, schemaOf("ggml", [graph, ops])), new Lines(writer, schemaOf("llama", [calls]))];
  const host = writer.stream(hostSchema);
  const tell = (text: string) => host.write(encoder.encode(text));
  const table: Fact = { fact: "table", symbol: "GGML_OP_NAME", file: "libggml-base.so", names: operators };
  tell(factLine(table, base));
  for (const lines of [ggml, llama]) lines.window(base, true);
  const graphs = Math.ceil(opCount / perGraph);
  const jitter = seeded(1);
  let at = base + 1_000_000n, beat = base;
  for (let index = 0; index < graphs; index++) {
    llama.event("llama/calls.decode", at, 94_000_000_000_000, 1, 1, 1, 1, 1, index);
    ggml.event("ggml/graph.graph", at += 30_000n, perGraph, 1);
    ggml.event("ggml/ops.worker", at, worker);
    for (let op = 0; op < Math.min(perGraph, opCount - index * perGraph); op++, at += opNs + BigInt(jitter(jitterNs))) {
      const address = 140431943164128 + op * 368;
      if (index === 0) {
        ggml.event("ggml/ops.tensor", at, address, 1 + op % (operators.length - 1), 0, 1024, 1, 1, 1, hex(`node-${op / perLayer | 0}`));
      }
      ggml.event("ggml/ops.op", at, address);
    }
    ggml.event("ggml/graph.graph_return", at);
    llama.event("llama/calls.decode_return", at += 60_000n, 0);
    at += 200_000n;
    for (; beat + beatNs <= at; beat += beatNs) {
      for (const lines of [ggml, llama]) lines.beat(beat + beatNs);
      tell(beatLine(beat + beatNs));
    }
  }
  for (const lines of [ggml, llama]) lines.end(at);
  host.close();
  return graphs;
}

const header: Header = {
  schemaVersion: 1,
  llmprof: "0.0.0",
  command: "operators",
  options: {},
  clock: { name: "boottime", base, realtimeOffset: 1_750_000_000_000_000_000n - base },
  target: { pid, argv: ["made", "up"], started: false },
  host: {},
  bpftrace: null,
};

function schemaOf(stream: string, probes: Parameters<typeof render>[0]["probes"]): StreamSchema {
  const plan = { stream, probes, filter: { type: "processes", pids: [pid] }, window: "signalled" } as const;
  return render(plan, recentDialect, () => [`uprobe:"x":"y"`]).schema;
}

const encoder = new TextEncoder();
const BLOCK = 1 << 20;

/** One stream as its program would print it. */
class Lines {
  readonly #out: StreamWriter;
  readonly #kinds = new Map<string, string>();
  #text = "";
  #emitted = 0;

  constructor(writer: RecordingWriter, schema: StreamSchema) {
    this.#out = writer.stream(schema);
    for (const [kind, { name }] of Object.entries(schema.records)) this.#kinds.set(name, kind);
  }

  event(record: string, at: bigint, ...fields: readonly (number | string)[]): void {
    this.#emitted++;
    this.#print(`${this.#kinds.get(record)} ${at} ${whoIs(pid)} ${fields.join(" ")}`.trimEnd());
  }

  window(at: bigint, open: boolean): void {
    this.#print(`${this.#kinds.get(open ? "window.open" : "window.close")} ${at} 0`);
  }

  /** bpftrace hands on a count when it reads it, and lines when they come to be read: `ahead` are still in the buffer. */
  beat(at: bigint, ahead = 20_000): void {
    this.#print(`(9, ${at})\n@n: ${this.#emitted + ahead}\n`);
  }

  end(at: bigint): void {
    this.window(at, false);
    this.beat(at + 1n, 0);
    this.#flush();
    this.#out.close();
  }

  #print(line: string): void {
    this.#text += `${line}\n`;
    if (this.#text.length > BLOCK) this.#flush();
  }

  #flush(): void {
    this.#out.write(encoder.encode(this.#text));
    this.#text = "";
  }
}

/** A name as a program sends it: 64 bytes in hexadecimal. */
function hex(name: string): string {
  const bytes = new Uint8Array(64);
  encoder.encodeInto(name, bytes);
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
}

if (import.meta.main) {
  const [path, count] = Deno.args;
  if (path === undefined || !(Number(count) > 0)) throw new Error("Where to, and how many operators? recording.ts PATH.llmprof 1000000");
  console.log(`${writeRecording(path, Number(count))} calls of llama_decode`);
}

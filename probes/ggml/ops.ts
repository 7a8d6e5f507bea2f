import type { Decoder, Event, Field } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import { withOperators } from "../../lib/programs/detail.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { cpuBackend } from "./library.ts";
import template from "./ops.bt" with { type: "text" };
import { ExpertChoices } from "./experts.ts";
import { OpLanes } from "./lanes.ts";
import { describe, judge, type Source, sourceOf, type Tensor } from "./tensor.ts";

/** What a tensor is said to be, whether it is computed or a source. */
const described: readonly Field[] = [
  { name: "type", type: "int", unit: "ggml_type" },
  { name: "ne0", type: "int" },
  { name: "ne1", type: "int" },
  { name: "ne2", type: "int" },
  { name: "ne3", type: "int" },
  { name: "name", type: "text" },
];

/** Every operator on every worker. */
export const ops: Probe = {
  name: "ggml/ops",
  summary: "ggml: every operator on every worker",
  template,
  params: { op: { type: "site", at: "entry", functions: [["ggml_cpu_extra_compute_forward"]] } },
  library: { ...cpuBackend, symbols: ["ggml_cpu_extra_compute_forward", "ggml_graph_compute"] },
  sees: ["ggml/graph.graph", "ggml/graph.graph_return", "ggml/barrier.barrier"],
  facts: ["table"],
  hot: true,
  perOperator: 1,
  details: withOperators,
  whileOpen: ["graph", "caller"],
  texts: { "tensor.name": "model", "source.name": "model" },
  records: {
    // Of the tensor that the same thread describes next.
    source: [
      { name: "index", type: "int" },
      // The tensor whose memory it shows: itself, if it is no view.
      { name: "root", type: "int", unit: "address" },
      // What that is computed from first, and what that is: the way to a node where those between are fused into it.
      { name: "behind", type: "int", unit: "address" },
      { name: "further", type: "int", unit: "address" },
      { name: "root_op", type: "int", unit: "index into GGML_OP_NAME" },
      ...described,
    ],
    tensor: [
      { name: "address", type: "int", unit: "address" },
      { name: "op", type: "int", unit: "index into GGML_OP_NAME" },
      ...described,
    ],
    worker: [{ name: "worker", type: "int", unit: "index + 32 × address of the pool" }],
    op: [{ name: "tensor", type: "int", unit: "address" }],
    // Eight numbers of experts that a token of the batch goes to; by the operator that the same thread has begun.
    chosen: [
      { name: "ids", type: "int", unit: "address" },
      { name: "tokens", type: "int" },
      { name: "used", type: "int" },
      // Of its ⌈used / 8⌉ records for each token, in no order.
      { name: "part", type: "int" },
      // Two in each: the first + 2^32 × the second.
      { name: "pair0", type: "int" },
      { name: "pair1", type: "int" },
      { name: "pair2", type: "int" },
      { name: "pair3", type: "int" },
    ],
  },
  decoder: (tracks) => new OpsDecoder(tracks),
};

class OpsDecoder implements Decoder {
  #names: readonly string[] = [];
  /** By process: address → what it stands for since the last `tensor` record. */
  readonly #tensors = new Map<number, Map<number, Tensor>>();
  /** Processes whose tensors are laid out as in no ggml that is known here. */
  readonly #strange = new Set<number>();
  /** By thread: of the tensor that it describes next. */
  readonly #sources = new Map<number, (Source | undefined)[]>();
  readonly #lanes: OpLanes;
  readonly #choices: ExpertChoices;

  constructor(tracks: Tracks) {
    this.#lanes = new OpLanes(tracks, (pid, address) => this.#tensors.get(pid)?.get(address));
    this.#choices = new ExpertChoices((tid) => this.#lanes.current(tid));
  }

  fact(fact: Fact): void {
    if (fact.fact === "table" && fact.symbol === cpuBackend.table) this.#names = fact.names;
  }

  event(event: Event, out: SpanSink): void {
    switch (event.record) {
      case "ggml/ops.op":
        return this.#lanes.op(event, event.values[0] as number, out);
      case "ggml/ops.worker":
        return this.#lanes.worker(event, event.values[0] as number);
      case "ggml/ops.source":
        return this.#source(event);
      case "ggml/ops.tensor":
        return this.#tensor(event, out);
      case "ggml/ops.chosen":
        return this.#choices.chosen(event, out);
      case "ggml/barrier.barrier":
        return this.#lanes.barrier(event, out);
      case "ggml/graph.graph":
        this.#choices.graph(event.tid, out);
        return this.#lanes.graphBegins(event, out);
      case "ggml/graph.graph_return":
        this.#choices.graph(event.tid, out);
        return this.#lanes.graphEnds(event, out);
    }
  }

  end(at: Ns, out: SpanSink): void {
    this.#choices.end(out);
    this.#lanes.end(at, out);
  }

  #source({ tid, values }: Event): void {
    let sources = this.#sources.get(tid);
    if (!sources) this.#sources.set(tid, sources = []);
    sources[values[0] as number] = sourceOf(values);
  }

  /** One tensor that cannot be is enough to believe none of the process: a table of wrong names looks like any other. */
  #tensor({ at, pid, tid, stream, values }: Event, out: SpanSink): void {
    const sources = this.#sources.get(tid) ?? [];
    this.#sources.delete(tid);
    if (this.#strange.has(pid)) return;
    const address = values[0] as number;
    let tensors = this.#tensors.get(pid);
    if (!tensors) this.#tensors.set(pid, tensors = new Map());
    switch (judge(values, this.#names.length)) {
      case "tensor":
        return void tensors.set(address, describe(values, sources, this.#names));
      case "unread":
        return void tensors.delete(address);
      case "strange": {
        this.#strange.add(pid);
        tensors.clear();
        const text = `process ${pid}: this build of ggml lays out its tensors as none that llmprof knows: its operators are timed, and have no names`;
        return out({ type: "mark", at, kind: "note", stream, text });
      }
    }
  }
}

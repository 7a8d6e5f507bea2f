import type { Decoder, Event } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import { BY_FUNCTIONS, withEveryOperator } from "../../lib/programs/detail.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { ALIGNED } from "../../lib/programs/short_line.ts";
import { CountedEvents, counterRecords } from "./counters.ts";
import { describing, descriptions, Tensors } from "./describe.ts";
import { ExpertChoices } from "./experts.ts";
import { OpLanes } from "./lanes.ts";
import { tensorLayout } from "./layout.ts";
import { cpuBackend } from "./library.ts";
import template from "./ops.bt" with { type: "text" };

/**
 * Of parameters and a node: what is asked whether there is a better way to compute it; before December 2024, and where a linker has put the one into the
 * other (GCC calls that so), what computes it.
 */
const COMPUTES = ["ggml_cpu_extra_compute_forward", "ggml_compute_forward", "ggml_compute_forward.lto_priv.0"];

/** Every operator on every worker. */
export const ops: Probe = {
  name: "ggml/ops",
  summary: "ggml: every operator on every worker",
  template: describing(template),
  params: { ...tensorLayout, op: { type: "site", at: "entry", functions: [COMPUTES] } },
  library: { ...cpuBackend, symbols: [COMPUTES, "ggml_graph_compute"] },
  sees: ["ggml/graph.graph", "ggml/graph.graph_return", "ggml/barrier.barrier", ...counterRecords],
  facts: ["table"],
  hot: true,
  perOperator: { site: "op", hits: 1 },
  instead: BY_FUNCTIONS,
  details: withEveryOperator,
  whileOpen: ["graph", "caller"],
  texts: descriptions.texts!,
  records: {
    ...descriptions.records,
    worker: [{ name: "worker", type: "int", unit: "index + 32 × address of the pool" }],
    op: [{ name: "tensor", type: "int", unit: ALIGNED }],
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
  readonly #tensors = new Tensors();
  readonly #lanes: OpLanes;
  readonly #choices: ExpertChoices;
  readonly #counted: CountedEvents;

  constructor(tracks: Tracks) {
    this.#lanes = new OpLanes(tracks, (pid, address) => this.#tensors.find(pid, address));
    this.#choices = new ExpertChoices((tid) => this.#lanes.current(tid), tracks);
    this.#counted = new CountedEvents((tid) => this.#lanes.current(tid), tracks);
  }

  fact(fact: Fact): void {
    this.#tensors.fact(fact);
  }

  event(event: Event, out: SpanSink): void {
    switch (event.record) {
      case "ggml/ops.op":
        // Every operator comes here: nothing is made for it where no experts are chosen.
        if (this.#choices.isOpen) this.#choices.op(event, this.#behind(out));
        return this.#lanes.op(event, event.values[0] as number, out);
      case "ggml/ops.worker":
        return this.#lanes.worker(event, event.values[0] as number);
      case "ggml/ops.source":
        return this.#tensors.source(event, out);
      case "ggml/ops.into":
        return this.#tensors.into(event);
      case "ggml/ops.tensor":
        this.#lanes.described(event);
        return this.#tensors.tensor(event, out);
      case "ggml/ops.chosen":
        return this.#choices.chosen(event, this.#behind(out));
      case "ggml/barrier.barrier":
        return this.#lanes.barrier(event, out);
      case "ggml/graph.graph":
        this.#choices.graph(event, this.#behind(out));
        return this.#lanes.graphBegins(event, out);
      case "ggml/graph.graph_return":
        this.#choices.graph(event, this.#behind(out));
        return this.#lanes.graphEnds(event, out);
      default:
        return this.#counted.counted(event, this.#behind(out));
    }
  }

  beat(out: SpanSink): void {
    this.#lanes.tell(out);
  }

  end(at: Ns, out: SpanSink): void {
    this.#choices.end(at, this.#behind(out));
    this.#lanes.end(at, out);
  }

  /** What is told of a row comes behind the operators that have ended there. */
  #behind(out: SpanSink): SpanSink {
    return (span) => {
      this.#lanes.tell(out);
      out(span);
    };
  }
}

import type { Decoder, Event, Snapshot } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { describing, descriptions, Tensors } from "./describe.ts";
import { CALL, graph, summed } from "./graph.ts";
import { OpLanes } from "./lanes.ts";
import { ops } from "./ops.ts";
import { SummedOperators } from "./summed.ts";
import template from "./sums.bt" with { type: "text" };

/** Every operator of worker 0: added up in the kernel, and told one after another in one graph a second. */
export const sums: Probe = {
  name: "ggml/sums",
  summary: "ggml: sums of every operator, and one graph a second whole",
  template: describing(template),
  params: { ...ops.params, call: graph.params!.call! },
  library: ops.library!,
  sees: ["ggml/graph.drawn", "ggml/graph.graph_return"],
  facts: ["table"],
  hot: true,
  perOperator: { site: "op", hits: 1 },
  instead: ops.instead!,
  details: ["sum"],
  texts: descriptions.texts!,
  records: {
    ...descriptions.records,
    // Operators that computed this tensor, and how long those before them took.
    sum: [{ name: "tensor", type: "int", unit: "address" }, ...summed],
    op: [{ name: "tensor", type: "int", unit: "address" }, { name: "place", type: "int" }],
  },
  sums: { sums: { key: ["pid", "tensor"], unit: "operators × 2^40 + ns" } },
  decoder: (tracks) => new SumsDecoder(tracks),
};

class SumsDecoder implements Decoder {
  readonly #tensors = new Tensors();
  readonly #lanes: OpLanes;
  readonly #summed: SummedOperators;
  /** By stream and key: what nobody has told when the window was shut. */
  #rows = new Map<string, Snapshot>();

  constructor(tracks: Tracks) {
    const find = (pid: number, address: number) => this.#tensors.find(pid, address);
    this.#lanes = new OpLanes(tracks, find);
    this.#summed = new SummedOperators(tracks, find);
  }

  fact(fact: Fact): void {
    this.#tensors.fact(fact);
  }

  event(event: Event, out: SpanSink): void {
    const [address, first, second] = event.values as [number, number, number];
    switch (event.record) {
      case "ggml/sums.source":
        return this.#tensors.source(event, out);
      case "ggml/sums.into":
        return this.#tensors.into(event);
      case "ggml/sums.tensor":
        this.#lanes.described(event);
        return this.#tensors.tensor(event, out);
      case "ggml/graph.drawn":
        this.#lanes.graphBegins(event, out);
        this.#lanes.worker(event, 0);
        this.#summed.add(event.pid, address, first, second);
        return this.#summed.drawn(event, address);
      case "ggml/sums.sum":
        return this.#summed.add(event.pid, address, first, second);
      case "ggml/sums.op":
        this.#summed.op(event, address, first);
        return this.#lanes.op(event, address, out);
      case "ggml/graph.graph_return":
        this.#lanes.graphEnds(event, out);
        return this.#summed.graphEnds(event, out);
    }
  }

  snapshot(snapshot: Snapshot): void {
    this.#rows.set(`${snapshot.stream} ${snapshot.key}`, snapshot);
  }

  beat(out: SpanSink): void {
    this.#lanes.tell(out);
  }

  end(at: Ns, out: SpanSink): void {
    this.#lanes.end(at, out);
    for (const { key: [pid, address], value } of this.#rows.values()) {
      const calls = Math.floor(value / CALL);
      this.#summed.add(pid!, address!, calls, value - calls * CALL);
    }
    this.#rows = new Map();
    this.#summed.end(at, out);
  }
}

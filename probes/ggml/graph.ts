import type { Decoder, Event, Field } from "../../lib/events/event.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import { withGraphs } from "../../lib/programs/detail.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { OpenSlices } from "../../lib/timeline/open_slices.ts";
import template from "./graph.bt" with { type: "text" };
import { cpuBackend } from "./library.ts";

/** What multiplies the number of operators in a row of `@sums` (sums.bt), whose rest is nanoseconds. */
export const CALL = 2 ** 40;

/** What is told of such a row. */
export const summed: readonly Field[] = [{ name: "calls", type: "int" }, { name: "ns", type: "int", unit: "ns" }];

/** Each computation of a graph on the CPU backend. */
export const graph: Probe = {
  name: "ggml/graph",
  summary: "ggml: each graph computed on the CPU",
  template,
  params: {
    graph: { type: "site", at: "entry", functions: [["ggml_graph_compute"]] },
    // Whoever makes a graph anew passes one of these; most engines compute a graph many times before.
    built: {
      type: "site",
      at: "entry",
      functions: [["ggml_new_graph_custom"], ["ggml_graph_clear"], ["ggml_backend_sched_alloc_graph"]],
      // One file was all of ggml before.
      beside: "libggml",
    },
    call: { type: "int", value: CALL },
    builds_are_seen: { type: "exists", site: "built" },
    graph_return: { type: "site", at: "return", functions: [["ggml_graph_compute"]] },
  },
  library: { ...cpuBackend, symbols: ["ggml_graph_compute"] },
  details: withGraphs,
  perToken: true,
  records: {
    graph: [{ name: "nodes", type: "int" }, { name: "threads", type: "int" }],
    graph_return: [],
    // Behind the `graph` whose operators are told one by one, where others are added up: graphs like this one that were, and how long their last operators took.
    drawn: [{ name: "graph", type: "int", unit: "address" }, ...summed],
  },
  decoder: (tracks) => new GraphDecoder(tracks),
};

class GraphDecoder implements Decoder {
  readonly #open = new OpenSlices();

  constructor(readonly tracks: Tracks) {}

  event(event: Event, out: SpanSink): void {
    if (event.record === "ggml/graph.drawn") return;
    const key = String(event.tid);
    if (event.record === "ggml/graph.graph_return") {
      this.#open.end(key, event.at, out);
      return;
    }
    const [nodes, threads] = event.values as [number, number];
    const track = this.tracks.thread(event.pid, event.tid);
    this.#open.begin(key, { track, name: "ggml_graph_compute", category: "ggml.graph", start: event.at, args: { nodes, threads } }, out);
  }

  end(at: Ns, out: SpanSink): void {
    this.#open.closeAll(at, out);
  }
}

import type { Args, Slice, Span } from "../events/span.ts";
import { type Ceilings, ceilingsFor } from "../machine/ceilings/ceilings.ts";
import { boundOf } from "./bound.ts";
import type { BoundResult } from "./operators_schema.ts";

type By = BoundResult["by"];

/**
 * Says of each operator's slice of worker 0 what binds it (`bound_type`), where this machine's ceilings are known. A verdict needs to know whether a graph's
 * weights fit into the cache, and how many workers there are: the graph before says so.
 */
export class SliceBounds {
  /** By arguments, of which an operator has one object, and verdict: so these stay few objects too. */
  readonly #told = new WeakMap<Args, Map<By, Args>>();
  readonly #workers = new Set<number>();
  #coldBytes = 0;
  #ceilings: Ceilings | undefined;
  #fits = false;

  constructor(readonly all: readonly Ceilings[]) {}

  readonly of = (span: Span): Span => {
    if (span.type !== "slice") return span;
    if (span.category === "ggml.graph") this.#graph();
    return span.category === "ggml.op" && span.args ? this.#operator(span, span.args) : span;
  };

  #operator(slice: Slice, args: Args): Slice {
    const { worker, bytes, cold = 0, flops, quantised, atMost } = args;
    this.#workers.add(Number(worker));
    if (worker !== 0) return slice;
    this.#coldBytes += Number(bytes === undefined ? 0 : cold);
    if (!this.#ceilings || typeof bytes !== "number" || typeof flops !== "number" || slice.open) return slice;
    const demands = {
      totalNs: slice.end - slice.start,
      bytes,
      coldBytes: Number(cold),
      flops,
      quantisedFlops: quantised ? flops : 0,
      atMost: atMost === true,
    };
    const bound = boundOf(demands, this.#ceilings, this.#fits);
    return bound ? { ...slice, args: this.#with(args, bound.by) } : slice;
  }

  #graph(): void {
    // One that is computed elsewhere, or was seen in part, says nothing.
    if (this.#workers.size === 0) return;
    this.#ceilings = ceilingsFor(this.#workers.size, this.all);
    this.#fits = this.#ceilings !== undefined && this.#coldBytes <= this.#ceilings.cacheSize;
    this.#workers.clear();
    this.#coldBytes = 0;
  }

  #with(args: Args, by: By): Args {
    let told = this.#told.get(args);
    if (!told) this.#told.set(args, told = new Map());
    let more = told.get(by);
    if (!more) told.set(by, more = { ...args, bound_type: by });
    return more;
  }
}

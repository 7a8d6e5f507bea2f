import type { Args, Chain, Link, Slice, Span } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import { type Ceilings, ceilingsFor } from "../machine/ceilings/ceilings.ts";
import { boundOf, type InCache, staysInCache } from "./bound.ts";
import { phaseOf } from "./operator_sums.ts";
import type { BoundResult } from "./operators_schema.ts";

type By = BoundResult["by"];

/**
 * Says of each operator's slice of worker 0 what binds it (`bound_type`), where this machine's ceilings are known. A verdict needs to know how many workers there
 * are, which the graph before says, and whether the weights of a token fit into the cache, which the call before says.
 */
export class SliceBounds {
  /** By arguments, of which an operator has one object, and verdict: so these stay few objects too. */
  readonly #told = new WeakMap<Args, Map<By, Link>>();
  readonly #workers = new Set<number>();
  #coldBytes = 0;
  #coldAll = 0;
  /** Some operators do not tell what they ask for. */
  #isAll = true;
  #ceilings: Ceilings | undefined;
  #inCache: InCache = { weights: null, experts: null };
  #seesTokens = false;

  constructor(readonly all: readonly Ceilings[]) {}

  readonly of = (span: Span): Span => {
    if (span.type === "chain") return span.category === "ggml.op" ? this.#chain(span) : span;
    if (span.type !== "slice") return span;
    if (span.category === "ggml.graph") this.#graph();
    if (span.category === "llama.decode") this.#decode(span);
    return span.category === "ggml.op" ? this.#slice(span) : span;
  };

  #slice(slice: Slice): Slice {
    const { args } = this.#link(slice, slice.open ? NaN : slice.end - slice.start);
    return args === slice.args ? slice : { ...slice, ...(args && { args }) };
  }

  #chain(chain: Chain): Chain {
    const { links, times } = chain;
    return { ...chain, links: links.map((link, i) => this.#link(link, times[i + 1]! - times[i]!)) };
  }

  /** `ns`: NaN where its end was not seen. */
  #link(link: Link, ns: Ns): Link {
    const { args } = link;
    if (!args) return link;
    const { worker, bytes, cold = 0, coldAll = cold, flops, quantised, bf16, atMost } = args;
    this.#workers.add(Number(worker));
    if (worker !== 0) return link;
    if (bytes === undefined) this.#isAll = false;
    else {
      this.#coldBytes += Number(cold);
      this.#coldAll += Number(coldAll);
    }
    if (!this.#ceilings || typeof bytes !== "number" || typeof flops !== "number" || !(ns >= 0)) return link;
    const demands = {
      totalNs: ns,
      bytes,
      coldBytes: Number(cold),
      flops,
      quantisedFlops: quantised ? flops : 0,
      bf16Flops: bf16 ? flops : 0,
      atMost: atMost === true,
      chooses: coldAll !== cold,
    };
    const bound = boundOf(demands, this.#ceilings, this.#inCache);
    return bound ? this.#with(link, args, bound.by) : link;
  }

  #graph(): void {
    // One that is computed elsewhere, or was seen in part, says nothing.
    if (this.#workers.size === 0) return;
    this.#ceilings = ceilingsFor(this.#workers.size, this.all);
    this.#workers.clear();
    if (!this.#seesTokens) this.#pass();
  }

  /** A token may be several graphs, with other devices' parts between them; a long prompt is several over the same weights. */
  #decode(call: Slice): void {
    if (phaseOf(call) === "decode") {
      this.#seesTokens = true;
      this.#pass();
    } else if (this.#seesTokens) this.#forget();
  }

  #pass(): void {
    if (this.#coldBytes === 0) return;
    const cold = { bytes: this.#coldBytes, withAll: this.#coldAll, isAll: this.#isAll };
    if (this.#ceilings) this.#inCache = staysInCache(cold, this.#ceilings);
    this.#forget();
  }

  #forget(): void {
    this.#coldBytes = this.#coldAll = 0;
    this.#isAll = true;
  }

  #with({ name, node }: Link, args: Args, by: By): Link {
    let told = this.#told.get(args);
    if (!told) this.#told.set(args, told = new Map());
    let more = told.get(by);
    if (!more) told.set(by, more = { name, args: { ...args, bound_type: by }, node });
    return more;
  }
}

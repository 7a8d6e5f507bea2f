import type { Args, Chain, Link, Slice, Span } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import { type Ceilings, ceilingsFor } from "../machine/ceilings/ceilings.ts";
import { boundOf, type InCache, staysInCache } from "./bound.ts";
import { type CallDemand, demandOf, demandsOf, phaseOf } from "./operator_sums.ts";
import type { BoundResult } from "./operators_schema.ts";

type By = BoundResult["by"];

/** Of an operator's arguments, of which it has one object. */
interface Known {
  readonly demand: CallDemand;
  /** By verdict: so these stay few objects too. */
  readonly told: Map<By, Link>;
}

/**
 * Says of each operator's slice of worker 0 what binds it (`bound_type`), where this machine's ceilings are known. A verdict needs to know how many workers there
 * are, which the graph before says, and whether the weights of a token fit into the cache, which the call before says.
 */
export class SliceBounds {
  readonly #known = new WeakMap<Args, Known>();
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
    this.#workers.add(Number(args.worker));
    if (args.worker !== 0) return link;
    let known = this.#known.get(args);
    if (!known) this.#known.set(args, known = { demand: demandOf(args), told: new Map() });
    const { demand, told } = known;
    this.#coldBytes += demand.knownColdBytes;
    this.#coldAll += demand.knownColdAll;
    if (Number.isNaN(demand.coldBytes)) this.#isAll = false;
    const bound = this.#ceilings && ns >= 0 ? boundOf(demandsOf(demand, ns), this.#ceilings, this.#inCache) : null;
    if (!bound) return link;
    let more = told.get(bound.by);
    if (!more) told.set(bound.by, more = { name: link.name, args: { ...args, bound_type: bound.by }, node: link.node });
    return more;
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
}

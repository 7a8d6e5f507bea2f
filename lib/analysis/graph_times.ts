import type { GraphNode, GraphSource } from "../events/span.ts";
import { sum } from "./sum.ts";

/** How often a graph was computed, and how long each of its nodes took, all times together. */
export class GraphTimes {
  times = 0;
  total = 0;
  readonly ns: number[];

  constructor(nodes: number) {
    this.ns = Array<number>(nodes).fill(0);
  }

  add(ns: readonly number[]): void {
    this.times++;
    this.total += sum(ns);
    for (let i = 0; i < ns.length; i++) this.ns[i]! += ns[i]!;
  }
}

/** Of all graphs together; each is a number of eight bytes. */
const MOST_NODES = 1 << 21;

/** Times of graphs whose nodes are not kept, in case they come again: a thousand of a large model's, those that came last. */
export class TimesOfOthers {
  readonly #times = new Map<string, GraphTimes>();
  #nodes = 0;

  constructor(readonly most = MOST_NODES) {}

  put(nodes: readonly GraphNode[], times: GraphTimes): void {
    this.#times.set(fingerprint(nodes), times);
    this.#nodes += times.ns.length;
    for (const [oldest, { ns }] of this.#times) {
      if (this.#nodes <= this.most) break;
      this.#times.delete(oldest);
      this.#nodes -= ns.length;
    }
  }

  /** Those of this graph, which are no longer here then. */
  take(nodes: readonly GraphNode[]): GraphTimes {
    const key = fingerprint(nodes), known = this.#times.get(key);
    if (!known) return new GraphTimes(nodes.length);
    this.#times.delete(key);
    this.#nodes -= known.ns.length;
    return known;
  }
}

/** The same computation at the same place, from the same. */
export function isSame(a: GraphNode, b: GraphNode): boolean {
  if (a === b) return true;
  if (a.address !== b.address || a.into !== b.into || a.op !== b.op || a.name !== b.name || a.shape !== b.shape) return false;
  return a.sources.length === b.sources.length && a.sources.every((source, place) => isSameSource(source, b.sources[place]));
}

function isSameSource(a: GraphSource | undefined, b: GraphSource | undefined): boolean {
  return a?.address === b?.address && a?.root === b?.root && a?.name === b?.name;
}

/** Of nodes that are described anew, too: one text for all that are the same by {@link isSame}, and hardly ever for others. */
function fingerprint(nodes: readonly GraphNode[]): string {
  let one = 1, other = 2;
  const number = (value: number) => {
    one = Math.imul(one ^ value, 0x01000193);
    other = Math.imul(other + value, 0x5bd1e995) ^ (other >>> 15);
  };
  const text = (value: string) => {
    number(value.length);
    for (let i = 0; i < value.length; i++) number(value.charCodeAt(i));
  };
  // Both halves: that of two addresses differs in their lower or in their higher one.
  const place = (value: number | undefined) => {
    number((value ?? -1) | 0);
    number(Math.floor((value ?? -1) / 2 ** 32));
  };
  for (const { address, into, op, name, shape, sources } of nodes) {
    place(address);
    place(into);
    for (const word of [op, name, shape]) text(word);
    number(sources.length);
    for (const source of sources) {
      place(source?.address);
      place(source?.root);
      text(source?.name ?? "");
    }
  }
  return `${nodes.length} ${one} ${other}`;
}

import type { Counter, Instant } from "../events/span.ts";
import type { Limits } from "../events/surroundings.ts";
import type { Ns } from "../events/time.ts";
import type { PressureResult, SurroundingsResult } from "./surroundings_schema.ts";

/** First and last total of a counter that grows. */
interface Growth {
  readonly first: number;
  readonly from: Ns;
  last: number;
  to: Ns;
}

/** What surrounded the target while it was watched. */
export class Surroundings {
  /** When watching began, and last. */
  #limits: { readonly first: Limits; readonly last: Limits } | null = null;
  /** By counter. */
  readonly #grown = new Map<string, Growth>();
  readonly #processes = new Map<number, Record<Amount, number>>();
  /** What all have together, as far as they were told at one look; and the most of that. */
  #together: { readonly at: Ns } & Record<Amount, number> = { at: NaN, ...NONE };
  readonly #most: Record<Amount, number> = { ...NONE };
  #available = Infinity;
  /** By process and node, as it was looked at last. */
  readonly #onNode = new Map<string, { readonly node: number; readonly bytes: number }>();

  /** Any instant. */
  instant({ category, limits }: Instant): void {
    if (category === "process.limits") this.#limits = { first: this.#limits?.first ?? limits!, last: limits! };
  }

  /** Any counter. */
  counter({ track: { name, pid }, at, value, total }: Counter): void {
    if (total !== undefined) {
      const grown = this.#grown.get(name);
      if (grown) [grown.last, grown.to] = [total, at];
      else this.#grown.set(name, { first: total, from: at, last: total, to: at });
    } else if (name.startsWith(ON_NODE)) this.#onNode.set(`${pid} ${name}`, { node: Number(name.slice(ON_NODE.length)), bytes: value });
    else if (name === "available memory") this.#available = Math.min(this.#available, value);
    else if (name in AMOUNTS) {
      const known = this.#processes.get(pid) ?? NONE, amount = AMOUNTS[name]!;
      this.#processes.set(pid, { ...known, [amount]: Math.max(known[amount], value) });
      if (this.#together.at !== at) this.#together = { at, ...NONE };
      this.#together[amount] += value;
      this.#most[amount] = Math.max(this.#most[amount], this.#together[amount]);
    }
  }

  /** Bytes of the target in each node. */
  get byNode(): ReadonlyMap<number, number> {
    const all = new Map<number, number>();
    for (const { node, bytes } of this.#onNode.values()) all.set(node, (all.get(node) ?? 0) + bytes);
    return all;
  }

  result(): SurroundingsResult {
    const seen = Number.isFinite(this.#available);
    return {
      limits: this.#limits && since(this.#limits.first, this.#limits.last),
      pressure: this.#pressure("pressure"),
      groupPressure: this.#pressure("pressure in its group"),
      memory: !seen ? null : {
        processes: [...this.#processes].map(([pid, { resident, locked, swapped }]) => (
          { pid, residentBytes: resident, lockedBytes: locked, swappedBytes: swapped }
        )).sort((a, b) => b.residentBytes - a.residentBytes),
        residentBytes: this.#most.resident,
        lockedBytes: this.#most.locked,
        swappedBytes: this.#most.swapped,
        leastAvailableBytes: this.#available,
        swappedInPages: this.#growth("pages swapped in") ?? 0,
        swappedOutPages: this.#growth("pages swapped out") ?? 0,
      },
    };
  }

  #growth(counter: string): number | null {
    const grown = this.#grown.get(counter);
    return grown ? Math.max(0, grown.last - grown.first) : null;
  }

  #pressure(of: string): PressureResult | null {
    const ns = (resource: string, stall: string) => {
      const us = this.#growth(`${of}: ${resource}, ${stall}`);
      return us === null ? null : us * 1000;
    };
    const stalls = (resource: string) => ({ someNs: ns(resource, "some"), fullNs: ns(resource, "full") });
    const result = { cpu: stalls("cpu"), io: stalls("io"), memory: stalls("memory") };
    if (Object.values(result).every(({ someNs }) => someNs === null)) return null;
    const looks = [...this.#grown].flatMap(([counter, { from, to }]) => counter.startsWith(`${of}: `) ? [to - from] : []);
    return { overNs: Math.max(...looks), ...result };
  }
}

/** A counter of a process: `resident on node 1`. */
const ON_NODE = "resident on node ";

type Amount = "resident" | "locked" | "swapped";
const NONE: Readonly<Record<Amount, number>> = { resident: 0, locked: 0, swapped: 0 };

/** Counters of a process: what each is the amount of. */
const AMOUNTS: Readonly<Record<string, Amount>> = { "resident": "resident", "locked": "locked", "swapped out": "swapped" };

/** What came of limits between two looks. */
function since(first: Limits, last: Limits): Limits {
  return {
    ...last,
    throttled: Math.max(0, last.throttled - first.throttled),
    throttledNs: Math.max(0, last.throttledNs - first.throttledNs),
    killed: Math.max(0, last.killed - first.killed),
  };
}

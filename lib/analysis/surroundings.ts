import type { Counter, Instant, Mark } from "../events/span.ts";
import type { Limits } from "../events/surroundings.ts";
import type { Ns } from "../events/time.ts";
import { OneLook } from "./one_look.ts";
import { sum } from "./sum.ts";
import type { PressureResult, SurroundingsResult } from "./surroundings_schema.ts";

/** A counter that grows: when it was looked at last, and what it grew by between two looks, neither of which was at a rest, and how long these were. */
interface Growth {
  at: Ns;
  total: number;
  by: number;
  ns: Ns;
}

/** What has come of limits. */
const COUNTS = ["throttled", "throttledNs", "killed", "heldBack", "refaultedBytes"] as const;

/** What surrounded the target while it was watched. */
export class Surroundings {
  /** As they were told last. */
  #limits: Limits | null = null;
  /** When watching began, or began again. */
  #since: Ns = -Infinity;
  #rests = false;
  /** By counter. */
  readonly #grown = new Map<string, Growth>();
  readonly #processes = new Map<number, Record<Amount, number>>();
  /** What all have together; and the most of that. */
  readonly #together = new OneLook<Amount>();
  readonly #most: Record<Amount, number> = { ...NONE };
  #available = Infinity;
  /** What all have by node; the most that they had; and {@link byNode}. */
  readonly #nodes = new OneLook<number>();
  #mostOnNodes = 0;
  #byNode: ReadonlyMap<number, number> = new Map();

  /** Any instant. */
  instant({ category, at, limits }: Instant): void {
    if (category !== "process.limits") return;
    this.#limits = limits!;
    // Who was killed ended by that: it is told behind the end.
    for (const name of COUNTS) if (limits![name] !== undefined) this.#grows(name, limits![name], at, name === "killed");
  }

  /** Any mark. */
  mark({ kind, open, at }: Mark): void {
    if (kind === "ended") this.#rests = true;
    if (kind !== "window" || !open || !this.#rests) return;
    this.#rests = false;
    this.#since = at;
  }

  /** Any counter. */
  counter({ track: { name, pid }, at, value, total }: Counter): void {
    if (total !== undefined) this.#grows(name, total, at);
    else if (name.startsWith(ON_NODE)) this.#onNode(Number(name.slice(ON_NODE.length)), value, at);
    else if (name === "available memory") this.#available = Math.min(this.#available, value);
    else if (name in AMOUNTS) {
      const known = this.#processes.get(pid) ?? NONE, amount = AMOUNTS[name]!;
      this.#processes.set(pid, { ...known, [amount]: Math.max(known[amount], value) });
      this.#most[amount] = Math.max(this.#most[amount], this.#together.add(amount, value, at).get(amount)!);
    }
  }

  /** Bytes of the target in each node, when it was looked at last; looks at its end, when it has given most of them back, do not count. */
  get byNode(): ReadonlyMap<number, number> {
    return this.#byNode;
  }

  result(): SurroundingsResult {
    const seen = Number.isFinite(this.#available);
    return {
      limits: this.#limits && { ...this.#limits, ...this.#counts(this.#limits) },
      pressure: this.#pressure("pressure"),
      groupPressure: this.#pressure("pressure in its group"),
      stolen: this.#stolen(),
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

  #onNode(node: number, bytes: number, at: Ns): void {
    const nodes = this.#nodes.add(node, bytes, at), all = sum([...nodes.values()]);
    this.#mostOnNodes = Math.max(this.#mostOnNodes, all);
    if (all >= KEPT * this.#mostOnNodes) this.#byNode = nodes;
  }

  /** `always`: also at a rest. */
  #grows(name: string, total: number, at: Ns, always = false): void {
    const grown = this.#grown.get(name);
    if (!grown) return void this.#grown.set(name, { at, total, by: 0, ns: 0 });
    if (always || (!this.#rests && grown.at >= this.#since)) {
      grown.by += Math.max(0, total - grown.total);
      grown.ns += at - grown.at;
    }
    [grown.at, grown.total] = [at, total];
  }

  #growth(counter: string): number | null {
    return this.#grown.get(counter)?.by ?? null;
  }

  /** What came of limits meanwhile. */
  #counts(limits: Limits): Partial<Limits> {
    return Object.fromEntries(COUNTS.filter((name) => limits[name] !== undefined).map((name) => [name, this.#growth(name)!]));
  }

  #stolen(): SurroundingsResult["stolen"] {
    const ns = this.#growth("taken by the hypervisor"), busyNs = this.#growth("busy processors");
    return ns === null || busyNs === null ? null : { ns, busyNs };
  }

  #pressure(of: string): PressureResult | null {
    const ns = (resource: string, stall: string) => {
      const us = this.#growth(`${of}: ${resource}, ${stall}`);
      return us === null ? null : us * 1000;
    };
    const stalls = (resource: string) => ({ someNs: ns(resource, "some"), fullNs: ns(resource, "full") });
    const result = { cpu: stalls("cpu"), io: stalls("io"), memory: stalls("memory") };
    if (Object.values(result).every(({ someNs }) => someNs === null)) return null;
    const looks = [...this.#grown].flatMap(([counter, { ns }]) => counter.startsWith(`${of}: `) ? [ns] : []);
    return { overNs: Math.max(...looks), ...result };
  }
}

/** A counter of a process: `resident on node 1`. */
const ON_NODE = "resident on node ";
/** Of the most that a target had: below it is ending, or has not begun. */
const KEPT = 0.5;

type Amount = "resident" | "locked" | "swapped";
const NONE: Readonly<Record<Amount, number>> = { resident: 0, locked: 0, swapped: 0 };

/** Counters of a process: what each is the amount of. */
const AMOUNTS: Readonly<Record<string, Amount>> = { "resident": "resident", "locked": "locked", "swapped out": "swapped" };

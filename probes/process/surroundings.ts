import type { Fact, Knowledge } from "../../lib/events/fact.ts";
import type { Args, SpanSink } from "../../lib/events/span.ts";
import type { Limits, MemoryUse, Pressure, StolenTime } from "../../lib/events/surroundings.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";

/** What llmprof reads of the target's surroundings. */
export const surroundings: readonly Knowledge["fact"][] = ["limits", "pressure", "memory"];

/** A counter of a process, for each. */
const ON_NODE = "resident on node ";

/** What has come of limits. */
type Counts = Pick<Limits, "throttled" | "throttledNs" | "killed" | "heldBack" | "refaultedBytes">;

/** A count that grows: its total when it was told last, and what that is more than the kernel's own. */
interface Grown {
  readonly at: Ns;
  readonly total: number;
  readonly more: number;
  readonly moves: number;
}

/**
 * Draws it: counters of what changes, and an instant where limits are told of. Other groups have counts of their own: they go on from those of the groups in
 * which the target was before.
 */
export class SurroundingsDecoder {
  /** By counter. */
  readonly #before = new Map<string, Grown>();
  /** By process: counters of the memory that it had when that was looked at last. */
  readonly #had = new Map<number, Set<string>>();

  constructor(readonly tracks: Tracks) {}

  fact(fact: Fact, at: Ns, out: SpanSink): void {
    if (fact.fact === "limits") this.#limits(fact.pid, fact.limits, fact.moves, at, out);
    if (fact.fact === "memory") this.#memory(fact.memory, at, out);
    if (fact.fact !== "pressure") return;
    this.#pressure("pressure", fact.pressure, at, out);
    if (fact.stolen) this.#stolen(fact.stolen, at, out);
    if (fact.group) this.#pressure("pressure in its group", fact.group, at, out, fact.moves);
  }

  #limits(pid: number, allowed: Limits, moves: number | undefined, at: Ns, out: SpanSink): void {
    const { throttled, throttledNs, killed, heldBack, refaultedBytes } = allowed;
    const counts: Counts = {
      throttled,
      throttledNs,
      killed,
      ...heldBack !== undefined && { heldBack },
      ...refaultedBytes !== undefined && { refaultedBytes },
    };
    const grown = Object.entries(counts).map(([name, count]) => [name, this.#grown(name, count, at, moves).total]);
    const limits: Limits = { ...allowed, ...Object.fromEntries(grown) as Counts };
    const { reads, ...others } = limits;
    const texts = reads.map(({ device, bytes, requests }) =>
      `${device} ${[...bytes === null ? [] : [`${bytes} bytes/s`], ...requests === null ? [] : [`${requests}/s`]].join(" ")}`
    );
    const args = {
      ...Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null)),
      ...texts.length > 0 && { reads: texts.join(", ") },
    } as Args;
    out({ type: "instant", track: this.tracks.lane(pid, "control group", 3), name: "limits", category: "process.limits", at, args, limits });
  }

  /** The share of the time since the last look in which somebody (`some`) or everybody stood still; at first, as the kernel says it of ten seconds. */
  #pressure(of: string, pressure: Pressure, at: Ns, out: SpanSink, moves?: number): void {
    for (const [resource, stalls] of Object.entries(pressure)) {
      for (const stall of ["some", "full"] as const) {
        const told = stalls[stall];
        // Of the machine, processors never are what everybody lacks.
        if (!told || (of === "pressure" && resource === "cpu" && stall === "full" && told.total === 0)) continue;
        const { rate, total } = this.#grown(`${of}: ${resource}, ${stall}`, told.total, at, moves);
        const value = rate === null ? told.avg10 : Math.min(100, rate / 1e6 * 100);
        out({ type: "counter", track: this.tracks.counter(0, `${of}: ${resource}, ${stall}`, "percent"), at, value, total });
      }
    }
  }

  /** How many processors had something to do since the last look, and the share of that which a hypervisor took. */
  #stolen({ ns, busyNs }: StolenTime, at: Ns, out: SpanSink): void {
    const counter = (name: string, unit: string, value: number, total: number) =>
      out({ type: "counter", track: this.tracks.counter(0, name, unit), at, value, total });
    const busy = this.#grown("busy processors", busyNs, at), taken = this.#grown("taken by the hypervisor", ns, at);
    counter("busy processors", "processors", (busy.rate ?? 0) / 1e9, busy.total);
    counter("taken by the hypervisor", "percent", busy.rate ? 100 * (taken.rate ?? 0) / busy.rate : 0, taken.total);
  }

  #memory({ processes, available, pageCache, swappedIn, swappedOut }: MemoryUse, at: Ns, out: SpanSink): void {
    const counter = (pid: number, name: string, value: number) => out({ type: "counter", track: this.tracks.counter(pid, name, "bytes"), at, value });
    // What was told last of one that has ended would stay.
    for (const pid of new Set(this.#had.keys()).difference(new Set(processes.map(({ pid }) => pid)))) {
      for (const name of this.#had.get(pid)!) counter(pid, name, 0);
      this.#had.delete(pid);
    }
    for (const { pid, resident, locked, swapped, nodes } of processes) {
      const now = new Map([["resident", resident], ["locked", locked], ["swapped out", swapped]]);
      for (const { node, bytes } of nodes ?? []) now.set(`${ON_NODE}${node}`, bytes);
      const had = this.#had.get(pid) ?? new Set<string>();
      // Where nodes were not looked at, it is where it was.
      for (const name of had.difference(now)) if (nodes) now.set(name, 0);
      this.#had.set(pid, had);
      for (const [name, bytes] of now) {
        const isLeft = had.delete(name);
        if (bytes > 0) had.add(name);
        // Of what it neither has nor had nothing is drawn.
        if (bytes > 0 || isLeft) counter(pid, name, bytes);
      }
    }
    counter(0, "available memory", available);
    counter(0, "page cache", pageCache);
    // On a machine without swap there is nothing to draw.
    if (swappedIn + swappedOut === 0) return;
    for (const [name, pages] of [["pages swapped in", swappedIn], ["pages swapped out", swappedOut]] as const) {
      const { rate, total } = this.#grown(name, pages, at);
      out({ type: "counter", track: this.tracks.counter(0, name, "per second"), at, value: rate ?? 0, total });
    }
  }

  /** What a count of the kernel's has come to; and its growth in a second, null where it is looked at for the first time. */
  #grown(counter: string, count: number, at: Ns, moves = 0): { readonly total: number; readonly rate: number | null } {
    const before = this.#before.get(counter), same = before?.moves === moves ? before : undefined;
    const more = same ? same.more : (before?.total ?? count) - count, total = count + more;
    this.#before.set(counter, { at, total, more, moves });
    return { total, rate: same === undefined || at <= same.at ? null : (total - same.total) / ((at - same.at) / 1e9) };
  }
}

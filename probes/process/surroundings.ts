import type { Fact, Knowledge } from "../../lib/events/fact.ts";
import type { Args, SpanSink } from "../../lib/events/span.ts";
import type { Limits, MemoryUse, Pressure } from "../../lib/events/surroundings.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";

/** What llmprof reads of the target's surroundings. */
export const surroundings: readonly Knowledge["fact"][] = ["limits", "pressure", "memory"];

/** Draws it: counters of what changes, and an instant where limits are told of. */
export class SurroundingsDecoder {
  /** By counter: when it was told last, and its total then. */
  readonly #before = new Map<string, { readonly at: Ns; readonly total: number }>();

  constructor(readonly tracks: Tracks) {}

  fact(fact: Fact, at: Ns, out: SpanSink): void {
    if (fact.fact === "limits") this.#limits(fact.pid, fact.limits, at, out);
    if (fact.fact === "memory") this.#memory(fact.memory, at, out);
    if (fact.fact !== "pressure") return;
    this.#pressure("pressure", fact.pressure, at, out);
    if (fact.group) this.#pressure("pressure in its group", fact.group, at, out);
  }

  #limits(pid: number, limits: Limits, at: Ns, out: SpanSink): void {
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
  #pressure(of: string, pressure: Pressure, at: Ns, out: SpanSink): void {
    for (const [resource, stalls] of Object.entries(pressure)) {
      for (const stall of ["some", "full"] as const) {
        const told = stalls[stall];
        // Of the machine, processors never are what everybody lacks.
        if (!told || (resource === "cpu" && stall === "full" && told.total === 0)) continue;
        const rate = this.#rate(`${of}: ${resource}, ${stall}`, told.total, at);
        const value = rate === null ? told.avg10 : Math.min(100, rate / 1e6 * 100);
        out({ type: "counter", track: this.tracks.counter(0, `${of}: ${resource}, ${stall}`, "percent"), at, value, total: told.total });
      }
    }
  }

  #memory({ processes, available, pageCache, swappedIn, swappedOut }: MemoryUse, at: Ns, out: SpanSink): void {
    const counter = (pid: number, name: string, value: number) => out({ type: "counter", track: this.tracks.counter(pid, name, "bytes"), at, value });
    for (const { pid, resident, locked, swapped, nodes = [] } of processes) {
      counter(pid, "resident", resident);
      if (locked > 0) counter(pid, "locked", locked);
      if (swapped > 0) counter(pid, "swapped out", swapped);
      for (const { node, bytes } of nodes) counter(pid, `resident on node ${node}`, bytes);
    }
    counter(0, "available memory", available);
    counter(0, "page cache", pageCache);
    // On a machine without swap there is nothing to draw.
    if (swappedIn + swappedOut === 0) return;
    for (const [name, total] of [["pages swapped in", swappedIn], ["pages swapped out", swappedOut]] as const) {
      out({ type: "counter", track: this.tracks.counter(0, name, "per second"), at, value: this.#rate(name, total, at) ?? 0, total });
    }
  }

  /** Growth in a second; null at first. */
  #rate(counter: string, total: number, at: Ns): number | null {
    const before = this.#before.get(counter);
    this.#before.set(counter, { at, total });
    return before === undefined || at <= before.at ? null : (total - before.total) / ((at - before.at) / 1e9);
  }
}

import type { Decoder, Event, Snapshot } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { IntervalTotals, SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { IntervalSums } from "../../lib/timeline/interval_sums.ts";
import { withIssued } from "./issued.ts";
import { deviceOf, handed } from "./request.ts";
import template from "./totals.bt" with { type: "text" };

/** Requests of an interval, added up in the kernel. */
export function blockTotals(intervalMs: number): Probe {
  return {
    name: "block/totals",
    summary: "requests to block devices, added up: how long the devices take, and how many requests they have",
    template: withIssued(template),
    params: { ...handed, exact: { type: "at", raw: "1", tracepoint: "0" }, interval: { type: "int", value: intervalMs } },
    tracepoints: ["block:block_getrq", "block:block_rq_issue", "block:block_rq_complete"],
    prompt: true,
    asked: "interval",
    every: blockTotals,
    facts: ["disks", "wallClock"],
    records: { tick: [{ name: "exact", type: "int", unit: "1: no answer is skipped" }] },
    // Read one right after the other. (One sum that goes up and down would lose what an answer adds while a request adds to it on the same processor.)
    sums: {
      begun: { key: ["dev"], unit: "requests" },
      returned: { key: ["dev"], unit: "requests" },
      latency: { key: ["dev", "slot"], unit: "requests" },
    },
    decoder: (tracks) => new TotalsDecoder(tracks),
  };
}

/** The kernel's own count is looked at each second: a disk has had no more requests than in the last of these. */
const LOOKS_NS = 2.5e9;

class TotalsDecoder implements Decoder {
  readonly #sums = new IntervalSums();
  #disks: { readonly at: Ns; readonly requests: ReadonlyMap<number, number> }[] = [];
  /** By device: it may come while others are watched, and have the number of one that went. */
  readonly #names = new Map<string, string>();
  /** The program that counts: another turn has another one. */
  #stream = "";
  #isExact = true;
  #wallShiftMs = 0;
  #since: Ns = NaN;

  constructor(readonly tracks: Tracks) {}

  snapshot(snapshot: Snapshot): void {
    this.#sums.add(snapshot);
    if (Number.isNaN(this.#since)) this.#since = snapshot.at;
  }

  fact(fact: Fact, at: Ns): void {
    if (fact.fact === "wallClock") this.#wallShiftMs = fact.shiftMs;
    if (fact.fact !== "disks") return;
    for (const { dev, name } of fact.disks) if (name !== undefined) this.#names.set(deviceOf(dev), name);
    this.#disks = this.#disks.filter((look) => look.at > at - LOOKS_NS);
    this.#disks.push({ at, requests: new Map(fact.disks.map(({ dev, requests }) => [dev, requests])) });
  }

  event({ at, stream, values }: Event, out: SpanSink): void {
    this.#isExact = values[0] === 1;
    this.#tell(at, out, this.#stream === stream ? undefined : this.#stream);
    this.#stream = stream;
  }

  /** What is left is a shorter interval. */
  end(at: Ns, out: SpanSink): void {
    this.#tell(at, out);
  }

  /** `last`: what that program counted is told now for the last time; what it saw begin and not end is nobody's any more. */
  #tell(at: Ns, out: SpanSink, last?: string): void {
    const latency = this.#sums.grown("block/totals.latency").map(({ key, by }) => ({ device: deviceOf(key[0]!), slot: key[1]!, count: by }));
    if (last !== undefined) { for (const map of ["begun", "returned", "latency"]) this.#sums.forget(last, `block/totals.${map}`); }
    const ended = this.#sums.totals("block/totals.latency"), returned = this.#sums.totals("block/totals.returned");
    // What ended is read a moment later: a request that was made in between may seem to be answered already.
    const inflight = [...this.#sums.totals("block/totals.begun")].map(([dev, begun]) => ({
      device: deviceOf(dev),
      count: Math.min(Math.max(0, begun - (returned.get(dev) ?? 0) - (ended.get(dev) ?? 0)), this.#isExact ? Infinity : this.#most(dev)),
    }));
    const totals: IntervalTotals = { latency, inflight, names: this.#names, wallShiftMs: this.#wallShiftMs };
    for (const { device, count } of inflight) {
      out({ type: "counter", track: this.tracks.counter(0, `in flight: disk ${device}`, "requests"), at, value: count });
    }
    out({ type: "instant", track: this.tracks.run(), name: "requests of an interval", category: "block.totals", at, totals });
  }

  /** Whose answer was skipped would be there for ever: a disk has no more than the kernel says. */
  #most(dev: number): number {
    const looks = this.#disks.flatMap(({ requests }) => requests.get(dev) ?? []);
    return looks.length === 0 ? Infinity : Math.max(...looks);
  }
}

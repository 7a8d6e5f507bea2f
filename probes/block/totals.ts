import type { Decoder, Event, Snapshot } from "../../lib/events/event.ts";
import type { IntervalTotals, SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { IntervalSums } from "../../lib/timeline/interval_sums.ts";
import { deviceOf, handed } from "./request.ts";
import template from "./totals.bt" with { type: "text" };

/** Requests of an interval, added up in the kernel. */
export function blockTotals(intervalMs: number): Probe {
  return {
    name: "block/totals",
    summary: "requests to block devices, added up: how long the devices take, and how many requests they have",
    template,
    params: { ...handed, interval: { type: "int", value: intervalMs } },
    tracepoints: ["block:block_getrq", "block:block_rq_issue", "block:block_rq_complete"],
    prompt: true,
    asked: "interval",
    every: blockTotals,
    records: { tick: [] },
    // `flying` goes up and down: two that only grow would be read one after the other, and a thousand requests come in between.
    sums: { latency: "requests", flying: "requests" },
    decoder: (tracks) => new TotalsDecoder(tracks),
  };
}

class TotalsDecoder implements Decoder {
  readonly #sums = new IntervalSums();
  #since: Ns = NaN;

  constructor(readonly tracks: Tracks) {}

  snapshot(snapshot: Snapshot): void {
    this.#sums.add(snapshot);
    if (Number.isNaN(this.#since)) this.#since = snapshot.at;
  }

  event({ at }: Event, out: SpanSink): void {
    this.#tell(at, out);
  }

  /** What is left is a shorter interval. */
  end(at: Ns, out: SpanSink): void {
    this.#tell(at, out);
  }

  #tell(at: Ns, out: SpanSink): void {
    const latency = this.#sums.grown("block/totals.latency").map(({ key, by }) => ({ device: deviceOf(key[0]!), slot: key[1]!, count: by }));
    // What processors count each for itself is not read at one moment: an answer may seem to come before its request.
    const inflight = [...this.#sums.totals("block/totals.flying")].map(([dev, flying]) => ({ device: deviceOf(dev), count: Math.max(0, flying) }));
    const totals: IntervalTotals = { latency, inflight };
    for (const { device, count } of inflight) {
      out({ type: "counter", track: this.tracks.counter(0, `in flight: disk ${device}`, "requests"), at, value: count });
    }
    out({ type: "instant", track: this.tracks.run(), name: "requests of an interval", category: "block.totals", at, totals });
  }
}

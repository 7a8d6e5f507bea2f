import type { Decoder, Event, Snapshot } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Pressure } from "../../lib/events/surroundings.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { IntervalSums } from "../../lib/timeline/interval_sums.ts";
import template from "./totals.bt" with { type: "text" };

/** Time off a processor and page faults of an interval, for each process, added up in the kernel. */
export function schedTotals(intervalMs: number): Probe {
  return {
    name: "sched/totals",
    summary: "time off a processor and page faults for each process, added up",
    template,
    params: { interval: { type: "int", value: intervalMs } },
    tracepoints: ["sched:sched_switch", "exceptions:page_fault_user"],
    facts: ["pressure"],
    prompt: true,
    asked: "interval",
    unpriced: true,
    every: schedTotals,
    records: { tick: [] },
    sums: { off: "ns", faulted: "faults" },
    decoder: (tracks) => new TotalsDecoder(tracks),
  };
}

class TotalsDecoder implements Decoder {
  readonly #sums = new IntervalSums();
  #pressure: Pressure | undefined;

  constructor(readonly tracks: Tracks) {}

  fact(fact: Fact, at: Ns, out: SpanSink): void {
    if (fact.fact !== "pressure") return;
    this.#pressure = fact.pressure;
    for (const [resource, { some }] of Object.entries(fact.pressure)) {
      if (some) out({ type: "counter", track: this.tracks.counter(0, `pressure: ${resource}`, "percent"), at, value: some.avg10 });
    }
  }

  snapshot(snapshot: Snapshot): void {
    this.#sums.add(snapshot);
  }

  event({ at }: Event, out: SpanSink): void {
    this.#tell(at, out);
  }

  /** What is left is a shorter interval. */
  end(at: Ns, out: SpanSink): void {
    this.#tell(at, out);
  }

  #tell(at: Ns, out: SpanSink): void {
    const byPid = (map: string) => new Map(this.#sums.grown(`sched/totals.${map}`).map(({ key, by }) => [key[0]!, by]));
    const totals = { offCpuNs: byPid("off"), pageFaults: byPid("faulted"), ...(this.#pressure && { pressure: this.#pressure }) };
    out({ type: "instant", track: this.tracks.run(), name: "processes of an interval", category: "sched.totals", at, totals });
  }
}

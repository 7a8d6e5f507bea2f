import type { Decoder, Event, Snapshot } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Pressure } from "../../lib/events/surroundings.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { IntervalSums } from "../../lib/timeline/interval_sums.ts";
import { callInProgress, withRegisters } from "../process/call_in_progress.ts";
import template from "./totals.bt" with { type: "text" };

/** For so long sums go on in the same maps: whoever reads these is late by less, even on a machine that is short of everything. */
const TURN_MS = 5000;
/** Maps of each sum. */
const TURNS = [0, 1, 2];
/** Where the template says so. */
const ADD_OFF = TURNS.map((turn) => `if ($turn == ${turn}) { @off_${turn}[$of] = sum($off); }`).join(" ");
const COUNT_FAULT = TURNS.map((turn) => `if ($turn == ${turn}) { @faulted_${turn}[pid] = count(); }`).join(" ");

/** Time off a processor and page faults of an interval, for each process, added up in the kernel. */
export function schedTotals(intervalMs: number): Probe {
  return {
    name: "sched/totals",
    summary: "time off a processor and page faults for each process, added up",
    template: withRegisters(template.replaceAll("ADD_OFF", () => ADD_OFF).replaceAll("COUNT_FAULT", () => COUNT_FAULT)),
    params: { ...callInProgress, interval: { type: "int", value: intervalMs }, ticks: { type: "int", value: Math.ceil(TURN_MS / intervalMs) } },
    tracepoints: ["sched:sched_switch", "sched:sched_process_exit"],
    facts: ["pressure", "names", "wallClock"],
    prompt: true,
    asked: "interval",
    every: schedTotals,
    records: {
      tick: [{ name: "emptied", type: "int", unit: "maps that were emptied, 3: none" }],
      ended: [{ name: "name", type: "text" }],
    },
    texts: { "ended.name": "name" },
    sums: Object.fromEntries(TURNS.flatMap((turn) => [
      [`off_${turn}`, { key: ["pid"], unit: "ns" }],
      [`faulted_${turn}`, { key: ["pid"], unit: "faults" }],
    ])),
    decoder: (tracks) => new TotalsDecoder(tracks),
  };
}

class TotalsDecoder implements Decoder {
  readonly #sums = new IntervalSums();
  readonly #names = new Map<number, string>();
  /** Processes that are told of for the last time. */
  readonly #ended = new Set<number>();
  #pressure: Pressure | undefined;
  #wallShiftMs = 0;

  constructor(readonly tracks: Tracks) {}

  fact(fact: Fact, at: Ns, out: SpanSink): void {
    if (fact.fact === "names") this.#names.set(fact.pid, fact.name);
    if (fact.fact === "wallClock") this.#wallShiftMs = fact.shiftMs;
    if (fact.fact !== "pressure") return;
    this.#pressure = fact.pressure;
    for (const [resource, { some }] of Object.entries(fact.pressure)) {
      if (some) out({ type: "counter", track: this.tracks.counter(0, `pressure: ${resource}`, "percent"), at, value: some.avg10 });
    }
  }

  snapshot(snapshot: Snapshot): void {
    this.#sums.add(snapshot);
  }

  event({ record, at, pid, stream, values }: Event, out: SpanSink): void {
    if (record === "sched/totals.ended") {
      this.#ended.add(pid);
      return void this.#names.set(pid, values[0] as string);
    }
    this.#tell(at, out);
    for (const pid of this.#ended) this.#names.delete(pid);
    this.#ended.clear();
    for (const map of ["off", "faulted"]) this.#sums.forget(stream, `sched/totals.${map}_${values[0]}`);
  }

  /** What is left is a shorter interval. */
  end(at: Ns, out: SpanSink): void {
    this.#tell(at, out);
  }

  #tell(at: Ns, out: SpanSink): void {
    const byPid = (map: string) => {
      const sums = new Map<number, number>();
      for (const { key, by } of TURNS.flatMap((turn) => this.#sums.grown(`sched/totals.${map}_${turn}`))) {
        sums.set(key[0]!, (sums.get(key[0]!) ?? 0) + by);
      }
      return sums;
    };
    const offCpuNs = byPid("off"), pageFaults = byPid("faulted");
    const seen = new Set([...offCpuNs.keys(), ...pageFaults.keys()]);
    const processNames = new Map([...seen].flatMap((pid) => this.#names.has(pid) ? [[pid, this.#names.get(pid)!]] : []));
    const totals = { offCpuNs, pageFaults, processNames, wallShiftMs: this.#wallShiftMs, ...(this.#pressure && { pressure: this.#pressure }) };
    out({ type: "instant", track: this.tracks.run(), name: "processes of an interval", category: "sched.totals", at, totals });
  }
}

import type { Event } from "../../lib/events/event.ts";
import type { Args, CountedEvent, SpanSink } from "../../lib/events/span.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import { withEveryOperator } from "../../lib/programs/detail.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { silent } from "../../lib/programs/silent.ts";
import template from "./counters.bt" with { type: "text" };
import type { FindCurrent } from "./experts.ts";
import { cpuBackend } from "./library.ts";

/** By the record that tells of it. */
const EVENTS: Readonly<Record<string, CountedEvent>> = {
  cycles: "cycles",
  instructions: "instructions",
  references: "cache references",
  misses: "cache misses",
  branches: "branch misses",
  stalls: "stalled cycles",
};
const count: Probe["records"][string] = [{ name: "count", type: "int", unit: "events since the last record" }];

/** What ops.ts wants to see. */
export const counterRecords: readonly string[] = Object.keys(EVENTS).map((record) => `ggml/counters.${record}`);

/** Rare events are told of so many times as often as cycles. */
const RARE = 100;

/** Cycles in a second of CPU time, about, for what it will cost. */
const CYCLES = 3e9;

/** The processor's counters, told once in `every` cycles; ops.ts finds out what was computed then. */
export function counters(every: number): Probe {
  return {
    name: "ggml/counters",
    // When it is asked for: loading ICU for a comma would cost every start 13 ms.
    get summary() {
      return `hardware counters: cycles and instructions, told once in ${
        every.toLocaleString("en-US")
      }; cache and branch misses, ${RARE} times as often`;
    },
    template,
    params: { every: { type: "int", value: every }, rare: { type: "int", value: Math.max(1, Math.round(every / RARE)) } },
    counters: ["cpu-cycles", "instructions"],
    asked: "sampleEvery",
    every: counters,
    details: withEveryOperator,
    hot: true,
    perSecond: 2 * CYCLES / every,
    library: { ...cpuBackend, symbols: ["ggml_graph_compute"] },
    records: Object.fromEntries(Object.keys(EVENTS).map((record) => [record, count])),
    decoder: silent,
  };
}

/** What the counters told, and which operator the thread computed: an instant on its row, and a sum for the process. */
export class CountedEvents {
  /** By process, and by process and operator: a count is exact but for what had not come to a whole `every`. */
  readonly #sums = new Map<string, Map<CountedEvent, number>>();

  constructor(readonly find: FindCurrent, readonly tracks: Tracks) {}

  counted({ record, at, pid, tid, values }: Event, out: SpanSink): void {
    const [count] = values as [number];
    const name = EVENTS[record.slice(record.indexOf(".") + 1)]!;
    const current = this.find(tid);
    const { label: operator, name: tensor } = current?.tensor ?? {};
    const ipc = ipcOf(this.#add(`${pid} ${operator ?? ""}`, name, count));
    const args: Args = {
      count,
      ...(operator !== undefined && { operator }),
      ...(tensor !== undefined && { tensor }),
      ...(ipc !== undefined && { ipc }),
    };
    const counted = { event: name, count, operator: operator ?? null };
    out({ type: "instant", track: current?.track ?? this.tracks.thread(pid, tid), name, category: "ggml.counted", at, args, counted });
    const value = this.#add(`${pid}`, name, count).get(name)!;
    out({ type: "counter", track: this.tracks.counter(pid, name, "events"), at, value });
  }

  #add(key: string, event: CountedEvent, count: number): ReadonlyMap<CountedEvent, number> {
    let sums = this.#sums.get(key);
    if (!sums) this.#sums.set(key, sums = new Map());
    return sums.set(event, (sums.get(event) ?? 0) + count);
  }
}

/** To hundredths: the error of samples is larger. Undefined until both have been told. */
function ipcOf(sums: ReadonlyMap<CountedEvent, number>): number | undefined {
  const cycles = sums.get("cycles"), instructions = sums.get("instructions");
  return cycles && instructions ? Math.round(100 * instructions / cycles) / 100 : undefined;
}

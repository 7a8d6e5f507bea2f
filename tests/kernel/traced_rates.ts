import { setTimeout as pause } from "node:timers/promises";
import type { Probe } from "../../lib/programs/probe.ts";
import { splitBase } from "../../lib/events/time.ts";
import { siteKey } from "../../lib/session/program_part.ts";
import type { Means } from "../../lib/session/means.ts";
import { Programs } from "../../lib/session/programs.ts";
import { DEFAULT_BUFFER_PAGES } from "../../lib/machine/bpftrace.ts";
import { countsOf } from "../../lib/timeline/tally.ts";
import { Timeline } from "../../lib/timeline/timeline.ts";
import { Producer } from "../workloads/rates.ts";

const site = { type: "site", at: "entry", functions: [["produced"]] } as const;

/** As large as the record of an operator, and printed or stored like it where `hot`. */
function probeOf(hot: boolean): Probe {
  return {
    name: "bench/rates",
    summary: "calls of the producer",
    template: "{{site}} /FILTER/ { EMIT(call, arg0, arg1, arg2); }",
    params: { site },
    hot,
    records: { call: [{ name: "tag", type: "int" }, { name: "call", type: "int" }, { name: "where", type: "int", unit: "address" }] },
    decoder: () => ({ event() {}, end() {} }),
  };
}

/** `adaptive`: as llmprof does it; `always`: the reader is never stopped; a number: stopped for so many milliseconds, then left running for 20. */
export type RhythmName = "adaptive" | "always" | number;

const FIXED_RUN_MS = 20;

export interface Traced<T> {
  readonly value: T;
  readonly emitted: number;
  readonly received: number;
  readonly lost: number;
  /** Received events by their tag. */
  readonly byTag: ReadonlyMap<number, number>;
  /** From an event to the moment at which llmprof had it, in milliseconds: the longest. */
  readonly latestMs: number;
  /** CPU seconds of bpftrace. */
  readonly bpftraceSeconds: number;
}

/** Traces the producer the way a run does (program, start, window, rhythm, drain, counts) while `work` goes on. */
export async function traced<T>(
  means: Means,
  producer: Producer,
  rhythm: RhythmName,
  work: () => Promise<T>,
  pages = DEFAULT_BUFFER_PAGES,
): Promise<Traced<T>> {
  const fail = (error: Error): never => {
    throw error;
  };
  const programs = new Programs(means, pages, fail, () => {});
  using _symbols = means.symbols;
  const probe = probeOf(rhythm === "adaptive");
  const sites = new Map([[siteKey(site), [{
    attach: Producer.site,
    label: "produced",
    cost: "emulated",
    byHand: [Producer.site],
    functions: [],
    places: [],
  }]]]);
  const attached = programs.start({ stream: "rates", probes: [probe], filter: { type: "processes", pids: [producer.pid] }, sites });
  await programs.ready(attached);
  const byTag = new Map<number, number>();
  let latestMs = 0;
  attached.onEvent = ({ at, values }) => {
    byTag.set(values[0] as number, (byTag.get(values[0] as number) ?? 0) + 1);
    latestMs = Math.max(latestMs, (programs.clock!.now() - at) / 1e6);
  };
  const timeline = new Timeline({ base: splitBase(programs.clock!.base), find: () => probe, out: () => {} });
  programs.connect(timeline, null);
  programs.openWindows();
  const abort = new AbortController();
  const fixed = typeof rhythm === "number" ? keepPausing(attached.running, rhythm, abort.signal) : undefined;
  const value = await work();
  abort.abort();
  await fixed;
  for (const { tap } of await programs.end()) tap.close();
  await programs.ended();
  const cpu = programs.facts.find((fact) => fact.fact === "cpu")!;
  return { value, ...countsOf(timeline.tallies.values()), byTag, latestMs, bpftraceSeconds: cpu.bpftrace };
}

async function keepPausing(reader: { pause(): void; resume(): void }, pauseMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    reader.pause();
    await pause(pauseMs);
    reader.resume();
    await pause(FIXED_RUN_MS);
  }
}

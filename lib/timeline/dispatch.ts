import type { Decoder, Event, Snapshot } from "../events/event.ts";
import { type Fact, type Knowledge, subjectOf } from "../events/fact.ts";
import type { SpanSink } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import type { Tracks } from "../events/tracks.ts";
import type { Probe } from "../programs/probe.ts";
import type { StreamSchema } from "../programs/schema.ts";

/** Hands every event to the decoders that want it: one decoder for each probe of the run, whatever the number of streams that carry it. */
export class Dispatch {
  readonly #decoders = new Map<string, Decoder>();
  readonly #byRecord = new Map<string, Decoder[]>();
  readonly #byFact = new Map<string, Decoder[]>();
  /** What was told so far, by its subject: a live run adds streams late, and their decoders have to know what they know in a replay. */
  readonly #known = new Map<string, { readonly fact: Knowledge; readonly at: Ns }>();

  constructor(readonly find: (probe: string) => Probe | undefined, readonly tracks: Tracks, readonly out: SpanSink) {}

  /**
   * Makes the decoders of a stream's records. Streams are added in any order, decoders act in a fixed one: for each record first those that only
   * see it, whose slices lie inside (an operator ends with its graph), then its own; by name.
   */
  add(schema: StreamSchema): void {
    const names = [...Object.values(schema.records).map((r) => r.name), ...Object.values(schema.maps)];
    for (const name of new Set(names.map(probeOf))) {
      const probe = this.find(name);
      if (!probe || this.#decoders.has(name)) continue;
      const decoder = probe.decoder(this.tracks, (record) => Object.values(schema.records).find((told) => told.name === `${name}.${record}`)?.fields);
      this.#decoders.set(name, decoder);
      for (const { fact, at } of this.#known.values()) if (probe.facts?.includes(fact.fact)) decoder.fact?.(fact, at, this.out);
    }
    const probes = [...this.#decoders.keys()].sort().map((name) => this.find(name)!);
    this.#byRecord.clear();
    this.#byFact.clear();
    for (const probe of probes) {
      const decoder = this.#decoders.get(probe.name)!;
      for (const record of probe.sees ?? []) push(this.#byRecord, record, decoder);
      for (const fact of probe.facts ?? []) push(this.#byFact, fact, decoder);
    }
    for (const probe of probes) {
      const own = [...Object.keys(probe.records), ...Object.keys({ ...probe.maps, ...probe.sums })].map((record) => `${probe.name}.${record}`);
      for (const record of own) push(this.#byRecord, record, this.#decoders.get(probe.name)!);
    }
  }

  event(event: Event): void {
    const decoders = this.#byRecord.get(event.record);
    if (decoders) { for (const decoder of decoders) decoder.event(event, this.out); }
  }

  snapshot(snapshot: Snapshot): void {
    for (const decoder of this.#byRecord.get(snapshot.map) ?? []) decoder.snapshot?.(snapshot, this.out);
  }

  fact(fact: Fact, at: Ns): void {
    const subject = subjectOf(fact);
    if (subject === null) return;
    this.#known.set(subject, { fact: fact as Knowledge, at });
    for (const decoder of this.#byFact.get(fact.fact) ?? []) decoder.fact?.(fact, at, this.out);
  }

  beat(): void {
    for (const decoder of this.#ordered()) decoder.beat?.(this.out);
  }

  /** What has ended is told before anything is cut off. */
  end(at: Ns): void {
    this.beat();
    for (const decoder of this.#ordered()) decoder.end(at, this.out);
  }

  /** As for a record: what is cut off inside of something else comes before that. */
  #ordered(): Decoder[] {
    const { inner = [], outer = [] } = Object.groupBy([...this.#decoders.keys()].sort(), (name) => this.find(name)!.sees ? "inner" : "outer");
    return [...inner, ...outer].map((name) => this.#decoders.get(name)!);
  }
}

/** `ggml/ops.op` → `ggml/ops`. */
export function probeOf(record: string): string {
  return record.slice(0, record.indexOf("."));
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

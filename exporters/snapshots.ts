import type { ByteSink, Exporter, OpenExporter, TraceHead } from "../lib/events/exporter.ts";
import type { IntervalTotals, Span } from "../lib/events/span.ts";
import type { Ns } from "../lib/events/time.ts";
import { parseDevices } from "../lib/machine/disks.ts";
import { toJson } from "./json.ts";

export interface SnapshotsOptions {
  /** Objects that are written together. */
  readonly flushEvery: number;
  /** Each time they are on the disk before anything else is written. */
  readonly fsync: boolean;
}

/**
 * One JSON object a line for each interval, for whoever has tooling on such files: `timestamp` (seconds since 1970) and `iso_timestamp` of its end,
 * `interval_s`, then what was added up: see snapshots_schema.ts.
 */
export const openSnapshots = (options: SnapshotsOptions): OpenExporter => (sink, head) => new SnapshotsExporter(sink, head, options);

class SnapshotsExporter implements Exporter {
  readonly #lines: string[] = [];
  readonly #encoder = new TextEncoder();
  /** Names, by number: those that were there when it began, then as they come. */
  readonly #devices: Map<string, string>;
  /** Of the last interval, or when counting began. */
  #since: Ns = NaN;

  constructor(readonly sink: ByteSink, readonly head: TraceHead, readonly options: SnapshotsOptions) {
    this.#devices = parseDevices(head.facts.devices);
  }

  span(span: Span): void {
    // Another turn, or another life of the target, begins with its own window: the rest before it is no time of an interval.
    if (span.type === "mark" && span.kind === "window" && span.open) this.#since = span.at;
    if (span.type !== "instant" || !span.totals) return;
    const interval = (span.at - this.#since) / 1e9;
    // The end of the run may be that of an interval.
    if (!(interval > 0)) return;
    this.#since = span.at;
    this.#lines.push(`${toJson({ ...this.#when(span.at, span.totals.wallShiftMs), interval_s: interval, ...this.#fields(span.totals) })}\n`);
    if (this.#lines.length >= this.options.flushEvery) this.#write();
  }

  flush(): void {}

  close(): void {
    this.#write();
    this.sink.close();
  }

  #write(): void {
    if (this.#lines.length === 0) return;
    // With an end behind it: what is compressed is passed on at once, and can be read.
    this.sink.write(this.#encoder.encode(this.#lines.splice(0).join("")), new Uint8Array());
    if (this.options.fsync) this.sink.sync?.();
  }

  #when(at: Ns, shiftMs = 0) {
    const { base, realtimeOffset } = this.head.clock;
    const ns = base + realtimeOffset + BigInt(Math.round(at)) + BigInt(Math.round(shiftMs)) * 1_000_000n;
    const us = ns / 1000n, fraction = String(us % 1_000_000n).padStart(6, "0");
    const iso = new Date(Number(us / 1_000_000n) * 1000).toISOString().replace(/\.\d+Z$/, `.${fraction}+00:00`);
    return { timestamp: Number(us) / 1e6, iso_timestamp: iso };
  }

  #fields({ latency, inflight, names, offCpuNs, pageFaults, processNames, pressure }: IntervalTotals) {
    for (const [device, name] of names ?? []) this.#devices.set(device, name);
    if (latency && inflight) {
      return {
        latency_histogram: this.#byName(latency).map(([device_name, slots]) => ({
          device_name,
          total: sumOf(slots),
          buckets: [...Map.groupBy(slots, ({ slot }) => slot)].toSorted(([a], [b]) => a - b).map(([slot, same]) => (
            { slot, count: sumOf(same), bucket_low: 2 ** slot, bucket_high: 2 ** (slot + 1) - 1 }
          )),
        })),
        inflight: this.#byName(inflight).map(([device_name, same]) => ({ device_name, count: sumOf(same) })),
      };
    }
    return {
      off_cpu_ns: Object.fromEntries(offCpuNs ?? []),
      page_faults: Object.fromEntries(pageFaults ?? []),
      pressure: pressure ?? { cpu: null, io: null, memory: null },
      names: Object.fromEntries(processNames ?? []),
    };
  }

  /** Ways to an NVMe disk have numbers of their own, and its name. */
  #byName<Row extends { readonly device: string }>(rows: readonly Row[]): [name: string, rows: Row[]][] {
    return [...Map.groupBy(rows, ({ device }) => this.#devices.get(device) ?? device)];
  }
}

function sumOf(rows: readonly { readonly count: number }[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}

import type { BlockRequest } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import { Histogram } from "./histogram.ts";
import { Intervals } from "./intervals.ts";
import type { LatencyResult, RequestsResult } from "./io_schema.ts";

/** Requests come nearly as they were issued: stretches so many before the last one are settled. */
const MOST_STRETCHES = 8192;

/** Requests of one kind to one disk. */
export class Requests {
  #bytes = 0;
  #errors = 0;
  #sequential = 0;
  readonly #sizes = new Histogram();
  readonly #queue = new Latency();
  readonly #service = new Latency();
  readonly #queued = new Queued();

  constructor(readonly device: string, readonly what: BlockRequest["what"]) {}

  /** `start`: when it was handed to the device. */
  add(start: Ns, end: Ns, { bytes, queuedNs, sequential, error }: BlockRequest): void {
    this.#bytes += bytes;
    this.#sizes.add(bytes);
    if (error !== 0) this.#errors++;
    if (sequential) this.#sequential++;
    this.#queue.add(queuedNs);
    this.#queued.add(start - queuedNs, start);
    this.#service.add(end - start);
  }

  /** `ns`: so long they were watched. */
  result(ns: Ns): RequestsResult {
    const service = this.#service.result(), sizes = this.#sizes;
    return {
      device: this.device,
      what: this.what,
      requests: sizes.count,
      bytes: this.#bytes,
      sizes: { p50Bytes: sizes.quantile(0.5) ?? 0, p99Bytes: sizes.quantile(0.99) ?? 0, maxBytes: sizes.count > 0 ? sizes.max : 0 },
      errors: this.#errors,
      sequential: this.#sequential,
      meanInFlight: ns > 0 ? service.totalNs / ns : 0,
      queuedNs: Math.min(this.#queued.ns, ns),
      queue: this.#queue.result(),
      service,
    };
  }
}

/** When at least one of a device's requests waited for its turn. */
class Queued {
  readonly #stretches = new Intervals();
  #settledNs = 0;

  add(start: Ns, end: Ns): void {
    this.#stretches.add(start, end);
    if (this.#stretches.count > MOST_STRETCHES) this.#settledNs += this.#stretches.settle(MOST_STRETCHES / 2);
  }

  get ns(): number {
    return this.#settledNs + this.#stretches.total;
  }
}

/** By quantiles, and by powers of two of a microsecond. */
class Latency {
  readonly #times = new Histogram();
  readonly #slots: number[] = [];

  add(ns: number): void {
    this.#times.add(ns);
    const slot = Math.max(0, 31 - Math.clz32(Math.min(ns / 1000, 2 ** 31)));
    this.#slots[slot] = (this.#slots[slot] ?? 0) + 1;
  }

  result(): LatencyResult {
    const times = this.#times, quantile = (q: number) => times.quantile(q) ?? 0;
    return {
      totalNs: times.sum,
      meanNs: times.mean ?? 0,
      p50Ns: quantile(0.5),
      p90Ns: quantile(0.9),
      p99Ns: quantile(0.99),
      maxNs: times.count > 0 ? times.max : 0,
      slots: Object.entries(this.#slots).map(([slot, count]) => ({ slot: Number(slot), count })),
    };
  }
}

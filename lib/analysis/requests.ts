import type { BlockRequest } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import { Histogram } from "./histogram.ts";
import type { LatencyResult, RequestsResult } from "./io_schema.ts";
import { UnionTime } from "./union_time.ts";

/** Requests of one kind to one disk. */
export class Requests {
  #requests = 0;
  #bytes = 0;
  #errors = 0;
  #sequential = 0;
  #unanswered = 0;
  /** Of these, all together and the oldest. */
  #unansweredNs = 0;
  #oldestNs = 0;
  readonly #sizes = new Sizes();
  readonly #queue = new Latency();
  readonly #service = new Latency();

  /** `queued`: when they waited for their turn, where that is not only of those that are added here. */
  constructor(readonly device: string, readonly what: BlockRequest["what"], readonly queued = new UnionTime()) {}

  /** `start`: when it was handed to the device. */
  add(start: Ns, end: Ns, { bytes, queuedNs, sequential, error }: BlockRequest): void {
    this.#requests++;
    this.#bytes += bytes;
    this.#sizes.add(bytes);
    if (error !== 0) this.#errors++;
    this.#sequential += sequential;
    this.#queue.add(queuedNs);
    this.queued.add(start - queuedNs, start);
    this.#service.add(end - start);
  }

  /** The device had it for so long when counting ended. */
  wait(ns: number): void {
    this.#unanswered++;
    this.#unansweredNs += ns;
    this.#oldestNs = Math.max(this.#oldestNs, ns);
  }

  /** Others of this kind and to this disk; but for when they waited, which has to be known as they come. */
  merge(other: Requests): void {
    this.#requests += other.#requests;
    this.#bytes += other.#bytes;
    this.#errors += other.#errors;
    this.#sequential += other.#sequential;
    this.#unanswered += other.#unanswered;
    this.#unansweredNs += other.#unansweredNs;
    this.#oldestNs = Math.max(this.#oldestNs, other.#oldestNs);
    this.#sizes.merge(other.#sizes);
    this.#queue.merge(other.#queue);
    this.#service.merge(other.#service);
  }

  /** `ns`: so long they were watched. */
  result(ns: Ns): RequestsResult {
    const service = this.#service.result();
    return {
      device: this.device,
      what: this.what,
      requests: this.#requests,
      bytes: this.#bytes,
      sizes: { p50Bytes: this.#sizes.quantile(0.5), p99Bytes: this.#sizes.quantile(0.99), maxBytes: this.#sizes.quantile(1) },
      errors: this.#errors,
      sequential: this.#sequential,
      unanswered: this.#unanswered,
      unansweredNs: this.#oldestNs,
      meanInFlight: ns > 0 ? (service.totalNs + this.#unansweredNs) / ns : 0,
      queuedNs: Math.min(this.queued.ns, ns),
      queue: this.#queue.result(),
      service,
    };
  }
}

/** They are few: whole blocks, and no more of them than a disk takes at once. */
class Sizes {
  readonly #counts = new Map<number, number>();

  add(bytes: number): void {
    this.#counts.set(bytes, (this.#counts.get(bytes) ?? 0) + 1);
  }

  merge(other: Sizes): void {
    for (const [bytes, count] of other.#counts) this.#counts.set(bytes, (this.#counts.get(bytes) ?? 0) + count);
  }

  /** The nearest-rank quantile; 0 of none. */
  quantile(q: number): number {
    const sizes = [...this.#counts].sort(([a], [b]) => a - b);
    let left = Math.ceil(q * sizes.reduce((sum, [, count]) => sum + count, 0));
    for (const [bytes, count] of sizes) if ((left -= count) <= 0) return bytes;
    return 0;
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

  merge(other: Latency): void {
    this.#times.merge(other.#times);
    other.#slots.forEach((count, slot) => this.#slots[slot] = (this.#slots[slot] ?? 0) + count);
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

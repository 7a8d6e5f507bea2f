import type { StoredTensor } from "../../lib/events/fact.ts";
import { firstIndex } from "../../lib/events/sorted.ts";
import type { TensorFaults } from "../../lib/events/span.ts";

/** Runs of faults that came before somebody has read what the file holds. Of more nobody waits for that: a part of them would be a wrong table. */
const MAX_PENDING = 1 << 17;

interface Run {
  readonly offset: number;
  readonly step: number;
  readonly count: number;
  /** How long the disk was waited for; undefined: of a run. */
  readonly ns?: number;
}

interface Sums {
  faults: number;
  major: number;
  majorNs: number;
}

/** The faults of a process in one file, by the tensor in which each address lies. */
export class FaultsByTensor {
  #tensors: readonly StoredTensor[] | undefined;
  #pending: Run[] | undefined = [];
  /** By the place of the tensor; -1: before the first. */
  readonly #sums = new Map<number, Sums>();

  /** `tensors`: in the order of their offsets. */
  knows(tensors: readonly StoredTensor[]): void {
    if (this.#pending === undefined) return;
    this.#tensors = tensors;
    for (const run of this.#pending.splice(0)) this.#add(run);
  }

  /** `count` faults, `step` bytes apart, from an offset in the file on. */
  run(offset: number, step: number, count: number): void {
    this.#add({ offset, step, count });
  }

  /** One of them was a major one. */
  major(offset: number, ns: number): void {
    this.#add({ offset, step: 0, count: 1, ns });
  }

  /** Those that were touched, in the order of the file; and forgets them. */
  take(): TensorFaults[] {
    const touched = [...this.#sums].sort(([a], [b]) => a - b);
    this.#sums.clear();
    return touched.map(([place, sums]) => ({ tensor: this.#tensors![place]?.name ?? null, ...sums }));
  }

  #add(run: Run): void {
    if (this.#tensors === undefined) {
      this.#pending?.push(run);
      if (this.#pending && this.#pending.length > MAX_PENDING) this.#pending = undefined;
      return;
    }
    let { offset } = run;
    const { step, ns } = run;
    for (let left = run.count; left > 0;) {
      const place = this.#placeOf(offset);
      const end = this.#tensors[place + 1]?.offset ?? Infinity;
      const count = step === 0 ? left : Math.min(left, Math.ceil((end - offset) / step));
      let sums = this.#sums.get(place);
      if (!sums) this.#sums.set(place, sums = { faults: 0, major: 0, majorNs: 0 });
      if (ns === undefined) sums.faults += count;
      else [sums.major, sums.majorNs] = [sums.major + count, sums.majorNs + ns];
      left -= count;
      offset += count * step;
    }
  }

  /** Of the last tensor that begins there or before; -1: of none. */
  #placeOf(offset: number): number {
    return firstIndex(this.#tensors!, (tensor) => tensor.offset > offset) - 1;
  }
}

import type { Snapshot } from "../events/event.ts";

/** Sums that a program prints again and again, and what they grew by since somebody asked. Another program of the same probe begins at 0. */
export class IntervalSums {
  /** By stream, map and key. */
  readonly #now = new Map<string, { readonly map: string; readonly key: readonly number[]; value: number; told: number }>();

  add({ stream, map, key, value }: Snapshot): void {
    const id = `${stream} ${map} ${key}`;
    const sum = this.#now.get(id);
    if (sum && value < sum.told) sum.told = 0;
    if (sum) sum.value = value;
    else this.#now.set(id, { map, key, value, told: 0 });
  }

  /** Rows of a map that grew; asking says so once. */
  grown(map: string): { readonly key: readonly number[]; readonly by: number }[] {
    const rows = [];
    for (const sum of this.#now.values()) {
      if (sum.map !== map || sum.value === sum.told) continue;
      rows.push({ key: sum.key, by: sum.value - sum.told });
      sum.told = sum.value;
    }
    return rows;
  }

  /** The program has emptied it, and begins at 0 there. */
  forget(stream: string, map: string): void {
    for (const id of this.#now.keys()) if (id.startsWith(`${stream} ${map} `)) this.#now.delete(id);
  }

  /** By the first number of their keys: all of a map until now. */
  totals(map: string): Map<number, number> {
    const totals = new Map<number, number>();
    for (const sum of this.#now.values()) if (sum.map === map) totals.set(sum.key[0]!, (totals.get(sum.key[0]!) ?? 0) + sum.value);
    return totals;
  }
}

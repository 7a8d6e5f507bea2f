import type { ExpertChoice, Instant, Slice } from "../events/span.ts";
import type { ExpertsResult } from "./operators_schema.ts";
import type { StoppedTimes } from "./stopped.ts";
import { sum } from "./sum.ts";

/** Standard deviations to either side in which 95 of 100 sums lie. */
const DEVIATIONS = 1.96;
/** The share of the choices that the hot experts of a layer take. */
const HOT = 0.9;

/** A choice, and the time of the products that follow it. */
interface Pending {
  readonly choice: ExpertChoice;
  ns: number;
}

/** Times of one choice (a token going to an expert), by Welford's method: a sum of squares would lose its last digits. */
class Spread {
  count = 0;
  mean = 0;
  #squares = 0;

  add(value: number): void {
    const before = value - this.mean;
    this.mean += before / ++this.count;
    this.#squares += before * (value - this.mean);
  }

  get variance(): number {
    return this.count > 1 ? this.#squares / (this.count - 1) : 0;
  }
}

interface Costs {
  readonly spread: Spread;
  /** By expert: how often it was chosen. One that stands for several, which were not read, has their deviation at once: the square of how many these are. */
  readonly deviations: number[];
}

interface Layer {
  readonly layer: number | undefined;
  experts: number;
  /** Tokens by how many experts they went to: llama.cpp sends that of its warm-up to all. */
  readonly used: Map<number, number>;
  tokens: number;
  unread: number;
  readonly counts: number[];
  /** Estimated, by expert. */
  readonly ns: number[];
  /** In batches of one token, and of more: both have costs of their own. */
  readonly single: Costs;
  readonly batch: Costs;
  productsNs: number;
}

/** Which experts each layer of a mixture used, how unevenly, and how much time they took. */
export class ExpertLedger {
  readonly #layers = new Map<number | undefined, Layer>();
  /** By row and layer: the choice whose products come now. */
  readonly #pending = new Map<string, Pending>();

  constructor(readonly stopped: StoppedTimes) {}

  choice({ track, choice }: Instant): void {
    if (!choice) return;
    const key = `${track.id} ${choice.layer}`;
    const before = this.#pending.get(key);
    if (before) this.#settle(before);
    this.#pending.set(key, { choice, ns: 0 });
  }

  /** Some choice has come. */
  get expectsProducts(): boolean {
    return this.#pending.size > 0;
  }

  /** A product of experts, on worker 0. */
  product({ track, start, end, open, node }: Slice): void {
    if (!node || open) return;
    const pending = this.#pending.get(`${track.id} ${node.layer}`);
    if (pending) pending.ns += this.stopped.net(track.pid, start, end);
  }

  /** Called once, at the end. Null where no expert was chosen. */
  result(): ExpertsResult["layers"] | null {
    for (const pending of this.#pending.values()) this.#settle(pending);
    this.#pending.clear();
    if (this.#layers.size === 0) return null;
    const layers = [...this.#layers.values()].sort((a, b) => (a.layer ?? Infinity) - (b.layer ?? Infinity));
    return layers.map(({ layer, experts, used, tokens, unread, productsNs, counts: seen, ns, single, batch }) => {
      const all = Array.from({ length: Math.max(experts, seen.length) }, (_, expert) => expert);
      const counts = all.map((expert) => seen[expert] ?? 0);
      return {
        layer: layer ?? null,
        experts: experts || null,
        used: [...used].reduce((most, one) => one[1] > most[1] ? one : most)[0],
        tokens,
        unread,
        counts,
        variation: variation(counts),
        hot: hot(counts),
        productsNs,
        estimatedNs: all.map((expert) => ns[expert] ?? 0),
        errorNs: all.map((expert) => {
          const [alone, together] = [single, batch].map(({ spread, deviations }) => (deviations[expert] ?? 0) * spread.variance);
          return DEVIATIONS * Math.sqrt(alone! + together!);
        }),
      };
    });
  }

  #settle({ choice, ns }: Pending): void {
    const row = this.#layer(choice);
    row.tokens += choice.tokens;
    row.used.set(choice.used, (row.used.get(choice.used) ?? 0) + choice.tokens);
    row.unread += choice.unread;
    row.productsNs += ns;
    const made = choice.tokens * choice.used;
    const each = made > 0 ? ns / made : 0;
    const { spread, deviations } = choice.tokens === 1 ? row.single : row.batch;
    if (each > 0) spread.add(each);
    // What was not read is taken to be spread like what was: each of these stands for so many.
    const many = made / (made - choice.unread);
    for (const [expert, times] of choice.chosen) {
      row.counts[expert] = (row.counts[expert] ?? 0) + times;
      row.ns[expert] = (row.ns[expert] ?? 0) + times * many * each;
      deviations[expert] = (deviations[expert] ?? 0) + times * many ** 2;
    }
  }

  #layer({ layer, experts }: ExpertChoice): Layer {
    let row = this.#layers.get(layer);
    if (!row) {
      const [single, batch] = [{ spread: new Spread(), deviations: [] }, { spread: new Spread(), deviations: [] }];
      row = { layer, experts: 0, used: new Map(), tokens: 0, unread: 0, counts: [], ns: [], single, batch, productsNs: 0 };
      this.#layers.set(layer, row);
    }
    row.experts = Math.max(row.experts, experts ?? 0);
    return row;
  }
}

/** Standard deviation by mean: 0 where all are used alike. */
function variation(counts: readonly number[]): number {
  const mean = sum(counts) / counts.length;
  if (!(mean > 0)) return 0;
  return Math.sqrt(sum(counts.map((count) => (count - mean) ** 2)) / counts.length) / mean;
}

/** How many experts, the most used first, take nine tenths of all choices. */
function hot(counts: readonly number[]): number {
  const sorted = counts.toSorted((a, b) => b - a);
  const enough = HOT * sum(counts);
  let taken = 0;
  return sorted.findIndex((count) => (taken += count) >= enough) + 1;
}

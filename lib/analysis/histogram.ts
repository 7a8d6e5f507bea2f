/** 64 buckets an octave: half a bucket is at most 1/128 of the value. */
const SUB_BITS = 6;
const SUB = 1 << SUB_BITS;

/**
 * Log-linear histogram of nanoseconds. Values below 64 are exact; above, a quantile is the middle of a bucket and off by at most 1/128
 * (0.8 %). Count, sum, minimum and maximum are exact. An octave takes 512 bytes once a value falls into it.
 */
export class Histogram {
  readonly #octaves: (Float64Array | undefined)[] = [];
  count = 0;
  sum = 0;
  min = Infinity;
  max = -Infinity;

  /** `times`: how often. */
  add(ns: number, times = 1): void {
    const value = ns > 0 ? Math.floor(ns) : 0;
    const bucket = bucketOf(value);
    this.count += times;
    this.sum += value * times;
    if (value < this.min) this.min = value;
    if (value > this.max) this.max = value;
    (this.#octaves[bucket >> SUB_BITS] ??= new Float64Array(SUB))[bucket & (SUB - 1)]! += times;
  }

  merge(other: Histogram): void {
    for (const [octave, buckets] of other.#octaves.entries()) {
      if (!buckets) continue;
      const mine = this.#octaves[octave] ??= new Float64Array(SUB);
      for (let i = 0; i < SUB; i++) mine[i]! += buckets[i]!;
    }
    this.count += other.count;
    this.sum += other.sum;
    this.min = Math.min(this.min, other.min);
    this.max = Math.max(this.max, other.max);
  }

  get mean(): number | null {
    return this.count === 0 ? null : this.sum / this.count;
  }

  /** The nearest-rank quantile, 0 < q ≤ 1; null without a value. */
  quantile(q: number): number | null {
    if (this.count === 0) return null;
    let left = Math.max(1, Math.ceil(q * this.count));
    if (left >= this.count) return this.max;
    for (const [octave, buckets] of this.#octaves.entries()) {
      if (!buckets) continue;
      for (let i = 0; i < SUB; i++) {
        left -= buckets[i]!;
        if (left > 0) continue;
        const width = octave === 0 ? 1 : 2 ** (octave - 1);
        const low = octave === 0 ? i : (SUB + i) * width;
        return Math.min(this.max, Math.max(this.min, low + (width - 1) / 2));
      }
    }
    return this.max;
  }
}

/** Where a whole number is counted: its octave times 64 and its part of the octave. */
function bucketOf(value: number): number {
  if (value < SUB) return value;
  // 31 bits are shifted; a longer number is first cut to its upper part. `Math.log2` rounds wrongly beside powers of two.
  const cut = value < 2 ** 31 ? 0 : 31;
  const upper = cut === 0 ? value : Math.floor(value / 2 ** 31);
  const octave = 31 - Math.clz32(upper) + cut - SUB_BITS + 1;
  const part = cut === 0 ? value >>> (octave - 1) : Math.floor(value / 2 ** (octave - 1));
  return octave * SUB + part - SUB;
}

import type { GpuResult } from "./gpu_schema.ts";

/** What was asked of GPUs until a moment. */
export type Asked = Omit<NonNullable<GpuResult["perToken"]>, "tokens">;

const NOTHING: Asked = { callsNs: 0, launches: 0, kernels: 0, copies: 0, copiedBytes: 0, allocations: 0, syncNs: 0 };

/**
 * What a generated token asks of GPUs: from the end of the call of the engine before to the end of the one that generates it. What loads a model, or
 * computes a prompt alone, is no token's.
 */
export class GpuPerToken {
  #sums = NOTHING;
  #before: Asked | null = null;
  /** Of calls before which nobody watched, and until this turn of watching. */
  #tokensBefore = 0;
  #tokensUntil = 0;

  /** A call ended that generated so many; `asked` and `tokens` are all until now. */
  decoded(generated: number, asked: Asked, tokens: number): void {
    const before = this.#before;
    if (before === null) this.#tokensBefore += tokens - this.#tokensUntil;
    else if (generated > 0) this.#sums = each((key) => this.#sums[key] + asked[key] - before[key]);
    this.#before = asked;
  }

  /** A life of the target has ended, or a turn of watching it: what is asked until the first call of the next one is no token's. */
  interrupt(tokens: number): void {
    this.#before = null;
    this.#tokensUntil = tokens;
  }

  /** For each of all `tokens`; null where none was seen from its beginning. */
  result(tokens: number): GpuResult["perToken"] {
    const counted = tokens - this.#tokensBefore;
    return counted > 0 ? { tokens: counted, ...each((key) => this.#sums[key] / counted) } : null;
  }
}

function each(value: (key: keyof Asked) => number): Asked {
  return Object.fromEntries(Object.keys(NOTHING).map((key) => [key, value(key as keyof Asked)])) as unknown as Asked;
}

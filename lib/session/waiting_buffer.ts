import { OFFERED, ROWS } from "../programs/schema.ts";

/** Lines that are events (records of probes have kinds of two digits: see Kind.first), rows that are, and the counters beside these. */
const counted = new RegExp(`^(?:\\d\\d+ |@${ROWS}(?<row>[012])\\[|@${OFFERED}(?<map>[012]): (?<count>\\d+)$)`, "gm");

/** Holds what a stream says while nobody knows yet whose events will be wanted: the last minutes of it, in whole lines. */
export class WaitingBuffer {
  readonly #blocks: { readonly bytes: Uint8Array; readonly at: number }[] = [];
  /** Events that were let go. */
  discarded = 0;
  /** How many rows each map had been offered until then. */
  readonly #offered = new Map<string, number>();

  /** @param holdMs How long a line is kept. */
  constructor(readonly holdMs: number, readonly now: () => number) {}

  push(bytes: Uint8Array): void {
    // A copy: the caller uses its buffer again.
    this.#blocks.push({ bytes: bytes.slice(), at: this.now() });
    while (this.#blocks.length > 1 && this.now() - this.#blocks[0]!.at > this.holdMs) this.#drop();
  }

  /** What a map's counter says of rows that are not here is told first. */
  take(): Uint8Array[] {
    const offered = [...this.#offered].map(([map, count]) => `@${OFFERED}${map}: ${count}\n`).join("");
    const kept = this.#blocks.splice(0).map((block) => block.bytes);
    return offered === "" ? kept : [new TextEncoder().encode(offered), ...kept];
  }

  /** A line that the block leaves unfinished goes with it. */
  #drop(): void {
    let { bytes } = this.#blocks.shift()!;
    while (bytes.at(-1) !== 10 && this.#blocks.length > 0) {
      const next = this.#blocks.shift()!;
      const end = next.bytes.indexOf(10);
      const rest = end < 0 ? next.bytes : next.bytes.subarray(0, end + 1);
      bytes = concat(bytes, rest);
      if (rest.length < next.bytes.length) this.#blocks.unshift({ ...next, bytes: next.bytes.subarray(rest.length) });
    }
    for (const { groups: { row, map, count } = {} } of new TextDecoder().decode(bytes).matchAll(counted)) {
      if (map !== undefined) this.#offered.set(map, Number(count));
      else this.discarded++;
      if (row !== undefined) this.#offered.set(row, (this.#offered.get(row) ?? 0) + 1);
    }
  }
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

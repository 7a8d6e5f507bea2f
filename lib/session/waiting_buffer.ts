/** Holds what a stream says while nobody knows yet whose events will be wanted: the last minutes of it, in whole lines. */
export class WaitingBuffer {
  readonly #blocks: { readonly bytes: Uint8Array; readonly at: number }[] = [];
  /** Event lines that were let go. */
  discarded = 0;

  /** @param holdMs How long a line is kept. */
  constructor(readonly holdMs: number, readonly now: () => number) {}

  push(bytes: Uint8Array): void {
    // A copy: the caller uses its buffer again.
    this.#blocks.push({ bytes: bytes.slice(), at: this.now() });
    while (this.#blocks.length > 1 && this.now() - this.#blocks[0]!.at > this.holdMs) this.#drop();
  }

  take(): Uint8Array[] {
    return this.#blocks.splice(0).map((block) => block.bytes);
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
    // Records of probes have kinds of two digits: see Kind.first.
    this.discarded += new TextDecoder().decode(bytes).match(/^\d\d+ /gm)?.length ?? 0;
  }
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

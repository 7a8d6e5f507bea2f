const decoder = new TextDecoder();

/** Cuts a stream of bytes into lines. A block is decoded once, up to its last newline; what follows waits for the next block. */
export class LineSplitter {
  #rest: Uint8Array = new Uint8Array();

  /** Calls `line` for each complete line, without its newline. */
  push(block: Uint8Array, line: (text: string) => void): void {
    const last = block.lastIndexOf(10);
    if (last < 0) {
      this.#rest = join(this.#rest, block);
      return;
    }
    const text = decoder.decode(this.#rest.length ? join(this.#rest, block.subarray(0, last)) : block.subarray(0, last));
    // A copy: the caller may use its buffer again.
    this.#rest = block.slice(last + 1);
    let from = 0;
    for (let to = text.indexOf("\n"); to >= 0; to = text.indexOf("\n", from)) {
      line(text.slice(from, to));
      from = to + 1;
    }
    line(text.slice(from));
  }

  /** The line that has no end yet: what a killed writer leaves behind. */
  rest(): string {
    return decoder.decode(this.#rest);
  }
}

function join(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

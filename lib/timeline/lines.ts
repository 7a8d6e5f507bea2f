const decoder = new TextDecoder();

/** A longer line is none of a program's: a recording may hold anything, and a file of zeros has no line end at all. */
const LONGEST_LINE = 16 << 20;
/** What is kept of a line that is too long: enough to see what it was. */
const KEPT = 200;

/** Cuts a stream of bytes into lines. A block is decoded once, up to its last newline; what follows waits for the next block. */
export class LineSplitter {
  #waiting: Uint8Array[] = [];
  #length = 0;

  /** @param longest Bytes of the longest line that is read; of a longer one, the beginning is handed on as a line that no grammar fits. */
  constructor(readonly longest = LONGEST_LINE) {}

  /** Calls `line` for each complete line, without its newline. */
  push(block: Uint8Array, line: (text: string) => void): void {
    const last = block.lastIndexOf(10);
    if (last < 0) return this.#wait(block);
    let complete = block.subarray(0, last);
    if (this.#length > this.longest) {
      const end = block.indexOf(10);
      line(this.rest());
      complete = block.subarray(end + 1, last);
      this.#take();
      if (end === last) return this.#wait(block.subarray(last + 1));
    }
    const text = decoder.decode(this.#length > 0 ? joined([...this.#take(), complete]) : complete);
    this.#wait(block.subarray(last + 1));
    let from = 0;
    for (let to = text.indexOf("\n"); to >= 0; to = text.indexOf("\n", from)) {
      line(text.slice(from, to));
      from = to + 1;
    }
    line(text.slice(from));
  }

  /** The line that has no end yet: what a killed writer leaves behind. */
  rest(): string {
    if (this.#length <= this.longest) return decoder.decode(joined(this.#waiting));
    return `longer than ${this.longest} bytes: ${decoder.decode(this.#waiting[0]!.subarray(0, KEPT))}`;
  }

  #wait(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#length += bytes.length;
    // A copy: the caller may use its buffer again.
    if (this.#length <= this.longest || this.#waiting.length === 0) this.#waiting.push(bytes.slice());
    // Of a line that is too long only its beginning is wanted.
    else this.#waiting.splice(1);
  }

  #take(): Uint8Array[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#length = 0;
    return waiting;
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

import type { ByteSink } from "../lib/events/exporter.ts";

/** Characters that may gather. Of a live run less comes between two flushes, a fifth of a second; a replay is a hundred times as fast. */
const MOST = 4 << 20;

/** Gathers text and passes it on as UTF-8. */
export class TextBlocks {
  readonly #encoder = new TextEncoder();
  #text = "";

  constructor(private readonly sink: ByteSink) {}

  write(text: string): void {
    this.#text += text;
  }

  /** So much has gathered that it is time for a tail: without one behind it, who is killed would leave a file that has no end. */
  get isFull(): boolean {
    return this.#text.length >= MOST;
  }

  /** Passes on what has gathered, and gives what `more` writes after it to the sink as its tail, which does not count as written. */
  tail(more: () => void): void {
    const written = this.#take();
    more();
    this.sink.write(written, this.#take());
  }

  close(): void {
    if (this.#text !== "") this.sink.write(this.#take());
    this.sink.close();
  }

  #take(): Uint8Array {
    const bytes = this.#encoder.encode(this.#text);
    this.#text = "";
    return bytes;
  }
}

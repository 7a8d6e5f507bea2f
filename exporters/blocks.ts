import type { ByteSink } from "../lib/events/exporter.ts";

/**
 * Characters that gather before they are passed on without a tail behind them. Of a live run less comes between two flushes, a fifth of a second: its file is
 * whole whenever llmprof is killed.
 */
const MOST = 4 << 20;

/** Gathers text and passes it on as UTF-8. */
export class TextBlocks {
  readonly #encoder = new TextEncoder();
  #text = "";
  #inTail = false;

  constructor(private readonly sink: ByteSink) {}

  write(text: string): void {
    this.#text += text;
    if (this.#text.length >= MOST && !this.#inTail) this.#flush();
  }

  /** Passes on what has gathered, and gives what `more` writes after it to the sink as its tail, which does not count as written. */
  tail(more: () => void): void {
    const written = this.#take();
    this.#inTail = true;
    more();
    this.#inTail = false;
    this.sink.write(written, this.#take());
  }

  close(): void {
    this.#flush();
    this.sink.close();
  }

  #flush(): void {
    if (this.#text !== "") this.sink.write(this.#take());
  }

  #take(): Uint8Array {
    const bytes = this.#encoder.encode(this.#text);
    this.#text = "";
    return bytes;
  }
}

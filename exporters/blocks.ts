import type { ByteSink } from "../lib/events/exporter.ts";

/** Gathers text and passes it on as UTF-8 in blocks of about 256 Ki characters. */
export class TextBlocks {
  readonly #encoder = new TextEncoder();
  #text = "";
  #inTail = false;

  constructor(private readonly sink: ByteSink) {}

  write(text: string): void {
    this.#text += text;
    if (this.#text.length >= 256 * 1024 && !this.#inTail) this.#flush();
  }

  /** Passes on what has gathered, and gives what `more` writes after it to the sink as its tail, which does not count as written. */
  tail(more: () => void): void {
    this.#flush();
    this.#inTail = true;
    more();
    this.sink.tail(this.#encoder.encode(this.#text));
    this.#inTail = false;
    this.#text = "";
  }

  close(): void {
    this.#flush();
    this.sink.close();
  }

  #flush(): void {
    if (this.#text === "") return;
    this.sink.write(this.#encoder.encode(this.#text));
    this.#text = "";
  }
}

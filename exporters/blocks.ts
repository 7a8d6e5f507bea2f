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

  /** Gives what has gathered, and what `more` writes after it, to the sink as its tail. Nothing of that counts as written. */
  tail(more: () => void): void {
    const gathered = this.#text;
    this.#inTail = true;
    more();
    this.sink.tail(this.#encoder.encode(this.#text));
    this.#inTail = false;
    this.#text = gathered;
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

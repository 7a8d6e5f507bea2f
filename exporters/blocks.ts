import type { ByteSink } from "../lib/events/exporter.ts";

/** Gathers text and passes it on as UTF-8 in blocks of about 256 Ki characters. */
export class TextBlocks {
  readonly #encoder = new TextEncoder();
  #text = "";

  constructor(private readonly sink: ByteSink) {}

  write(text: string): void {
    this.#text += text;
    if (this.#text.length >= 256 * 1024) this.#flush();
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

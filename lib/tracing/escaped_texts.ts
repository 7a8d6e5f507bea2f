import type { StreamSchema } from "../programs/schema.ts";

/**
 * Makes of texts as 0.16 prints them what every other bpftrace prints: `l k\x0a\x00` → `6c 20 6b 0a 00`. A text is the last field of its record, so it may
 * have blanks; a newline in it is printed as `\x0a`. A name that itself has a backslash, an x and two such digits is taken for the byte.
 */
export class EscapedTexts {
  /** By kind of line: what stands before its text. */
  readonly #before = new Map<string, RegExp>();
  readonly #decoder = new TextDecoder();
  readonly #encoder = new TextEncoder();
  /** A line whose end has not come. */
  #begun = "";

  constructor({ records }: Pick<StreamSchema, "records">) {
    for (const [kind, { fields }] of Object.entries(records)) {
      // Its kind, its time and whose it is come before its fields.
      if (fields.at(-1)?.type === "text") this.#before.set(kind, new RegExp(`^(?:\\S+ ){${fields.length + 2}}`));
    }
  }

  /** All lines that end in these bytes. */
  lines(bytes: Uint8Array): Uint8Array {
    const lines = (this.#begun + this.#decoder.decode(bytes, { stream: true })).split("\n");
    this.#begun = lines.pop()!;
    return this.#encoder.encode(lines.map((line) => `${this.#hexadecimal(line)}\n`).join(""));
  }

  /** What was cut off when nothing more comes. */
  end(): Uint8Array {
    return this.#encoder.encode(this.#begun);
  }

  #hexadecimal(line: string): string {
    const before = this.#before.get(line.slice(0, line.indexOf(" ")))?.exec(line)?.[0];
    if (before === undefined) return line;
    return before + line.slice(before.length).replace(/\\x([0-9a-f]{2})|[^]/g, (char, hex?: string) => `${hex ?? char.charCodeAt(0).toString(16)} `);
  }
}

import { Interned, InternedData } from "./fields.ts";
import type { ProtoWriter } from "./writer.ts";

/** A trace may run for hours and name every file it sees: past this many texts of a kind, new ones are written out each time. */
const limit = 1 << 16;

type Kind = keyof typeof InternedData;

/** Shared by all sequences of a trace: no new text gets a number, because what is written now will be taken back. */
export interface Freezing {
  frozen: boolean;
}

/** Texts that repeat are sent once in a sequence and referred to by number. */
export class Interning {
  readonly #known: Readonly<Record<Kind, Map<string, number>>> = {
    categories: new Map(),
    eventNames: new Map(),
    annotationNames: new Map(),
    annotationStrings: new Map(),
  };
  readonly #fresh: { field: number; iid: number; text: string }[] = [];

  constructor(private readonly out: ProtoWriter, private readonly freezing: Freezing) {}

  /** Writes `text` as a reference in `byNumber`, or, when it has no number and can get none, as it is in `asText`. */
  write(kind: Kind, text: string, byNumber: number, asText: number): void {
    const iid = this.number(kind, text);
    if (iid === undefined) this.out.string(asText, text);
    else this.out.uint(byNumber, iid);
  }

  /** The number by which `text` is referred to; undefined when it has none and can get none. */
  number(kind: Kind, text: string): number | undefined {
    const known = this.#known[kind];
    const number = known.get(text);
    if (number !== undefined || this.freezing.frozen || known.size >= limit) return number;
    const iid = known.size + 1;
    known.set(text, iid);
    this.#fresh.push({ field: InternedData[kind], iid, text });
    return iid;
  }

  /** Writes what this packet is the first to refer to; a reader looks at it before the event, wherever in the packet it stands. */
  writeFresh(internedData: number): void {
    if (this.#fresh.length === 0) return;
    const data = this.out.begin(internedData);
    for (const { field, iid, text } of this.#fresh) {
      const entry = this.out.begin(field);
      this.out.uint(Interned.iid, iid);
      this.out.string(Interned.text, text);
      this.out.end(entry);
    }
    this.out.end(data);
    this.#fresh.length = 0;
  }
}

import { OFFERED, ROWS, type StreamSchema } from "../programs/schema.ts";

/** What was printed of one of the maps. */
interface Print {
  /** In all. */
  rows: number;
  /** What it refused, as far as that has been told. */
  refused: number;
  /** Of the last print: its first and last row. */
  first: string;
  last: string;
  /** Sweeps before it. */
  sweeps: number;
  /** It is being printed again. */
  again: boolean;
}

const PREFIX = `@${ROWS}`, COUNTER = `@${OFFERED}`;

/**
 * Rows of maps that are records: see {@link StreamSchema.rows}. A row says what a line says, in another order. A bpftrace that is ended in the
 * middle of a sweep prints the map again at its end, and such a second print begins with the same row as the first.
 */
export class MapRows {
  /** Number of fields by kind. */
  readonly #widths: readonly (number | undefined)[];
  readonly #prints: readonly Print[] = [0, 1, 2].map(() => ({ rows: 0, refused: 0, first: "", last: "", sweeps: -1, again: false }));
  #sweeps = 0;
  #refused = 0;

  constructor(schema: StreamSchema) {
    const widths: number[] = [];
    for (const [kind, { name, fields }] of Object.entries(schema.records)) if (schema.rows?.includes(name)) widths[Number(kind)] = fields.length;
    this.#widths = widths;
  }

  isRow(text: string): boolean {
    return text.startsWith(PREFIX) || text.startsWith(COUNTER);
  }

  /** A map has been printed whole. Returns how many rows it had refused, because it was full. */
  swept(): number {
    this.#sweeps++;
    const refused = this.#refused;
    this.#refused = 0;
    return refused;
  }

  /** `@rows0[123, 1]: (10, 7, 5, 0)` → `10 123 7 5`; "" for a row that came before and for a counter, null for what is no row. */
  record(text: string): string | null {
    if (text.startsWith(COUNTER)) return this.#offered(text);
    const print = this.#prints[text.charCodeAt(PREFIX.length) - 48];
    const open = PREFIX.length + 2;
    const comma = text.indexOf(", ", open);
    const close = text.indexOf("]: (", comma);
    const kindEnd = text.indexOf(", ", close);
    const width = this.#widths[Number(text.slice(close + 4, kindEnd))];
    if (!print || comma < 0 || close < 0 || width === undefined || !text.endsWith(")")) return null;
    if (this.#wasPrinted(print, text.slice(open, close))) return "";
    let end = kindEnd;
    // Who, and the fields; what follows fills the row up.
    for (let i = 0; i < width + 1 && end >= 0; i++) end = text.indexOf(", ", end + 2);
    const rest = text.slice(kindEnd + 2, end < 0 ? -1 : end).replaceAll(", ", " ");
    return `${text.slice(close + 4, kindEnd)} ${text.slice(open, comma)} ${rest}`;
  }

  #offered(text: string): "" | null {
    const [, map, count] = /^@\w+?(\d): (\d{1,15})$/.exec(text) ?? [];
    const print = this.#prints[Number(map)];
    if (!print) return null;
    const refused = Number(count) - print.rows - print.refused;
    if (refused > 0) {
      print.refused += refused;
      this.#refused += refused;
    }
    return "";
  }

  #wasPrinted(print: Print, key: string): boolean {
    if (key === print.first) print.again = true;
    if (print.again) {
      print.again = key !== print.last;
      return true;
    }
    if (print.sweeps !== this.#sweeps) [print.sweeps, print.first] = [this.#sweeps, key];
    print.last = key;
    print.rows++;
    return false;
  }
}

import type { Ns } from "../events/time.ts";
import { OFFERED, ROWS } from "../programs/schema.ts";
import type { LineFields } from "./line_fields.ts";

/** What was printed of one of the maps. */
interface Print {
  /** In all, those included that were let go before the first that is here. */
  rows: number;
  /** What it refused, as far as that has been told. */
  refused: number;
  /** Keys of the last print's first and last row. */
  firstAt: Ns;
  firstCpu: number;
  lastAt: Ns;
  lastCpu: number;
  /** Sweeps before it. */
  sweeps: number;
  /** It is being printed again. */
  again: boolean;
}

const encoder = new TextEncoder();
const HEAD = encoder.encode(`@${ROWS}`), BETWEEN = encoder.encode("]: (");
const ZERO = 48, OPENING_BRACKET = 91, CLOSING_BRACKET = 93, CLOSING_PARENTHESIS = 41;

/**
 * Rows of maps that are records: see `rows` in the schema. A row says what a line says, in another order. A bpftrace that is ended in the middle
 * of a sweep prints the map again at its end, and such a second print begins with the same row as the first.
 */
export class MapRows {
  readonly #prints: readonly Print[] = [0, 1, 2].map(() => (
    { rows: 0, refused: 0, firstAt: NaN, firstCpu: NaN, lastAt: NaN, lastCpu: NaN, sweeps: -1, again: false }
  ));
  #sweeps = 0;
  #refused = 0;
  /** The row that is being read. */
  #map = 0;
  #at: Ns = NaN;
  #cpu = NaN;

  /** Reads `@rows0[<nsecs>, <cpu>]: (` and leaves `row` at the first number behind it. Returns the time; NaN for what begins otherwise. */
  begin(row: LineFields, bytes: Uint8Array, from: number): Ns {
    const map = from + HEAD.length;
    this.#map = bytes[map]! - ZERO;
    if (!begins(HEAD, bytes, from) || !this.#prints[this.#map] || bytes[map + 1] !== OPENING_BRACKET) return NaN;
    row.begin(bytes, map + 2, CLOSING_BRACKET);
    this.#at = row.time();
    this.#cpu = row.integer();
    if (!(this.#cpu >= 0) || row.end < 0 || !begins(BETWEEN, bytes, row.end)) return NaN;
    row.begin(bytes, row.end + BETWEEN.length, CLOSING_PARENTHESIS);
    return this.#at;
  }

  /** Counts the row that was read, if it is a new one; false for one that has come before. */
  isNew(): boolean {
    const print = this.#prints[this.#map]!;
    if (this.#at === print.firstAt && this.#cpu === print.firstCpu) print.again = true;
    if (print.again) {
      print.again = this.#at !== print.lastAt || this.#cpu !== print.lastCpu;
      return false;
    }
    if (print.sweeps !== this.#sweeps) {
      print.sweeps = this.#sweeps;
      print.firstAt = this.#at;
      print.firstCpu = this.#cpu;
    }
    print.lastAt = this.#at;
    print.lastCpu = this.#cpu;
    print.rows++;
    return true;
  }

  /** Whether a line that is no row is about the maps all the same: their counters, or a row that is broken. */
  owns(text: string): boolean {
    return text.startsWith(`@${ROWS}`) || text.startsWith(`@${OFFERED}`);
  }

  /** `@offered0: 5`: how many rows the map was ever offered. False for another line. */
  offered(text: string): boolean {
    const [, map, count] = counter.exec(text) ?? [];
    const print = this.#prints[Number(map)];
    if (!print) return false;
    // What comes before all rows, and what they promise, is of rows that nobody kept: a map refuses none before some have been printed.
    if (this.#sweeps === 0 && print.rows === 0) print.rows = Number(count);
    const refused = Number(count) - print.rows - print.refused;
    if (refused > 0) {
      print.refused += refused;
      this.#refused += refused;
    }
    return true;
  }

  /** A map has been printed whole. Returns how many rows it had refused, because it was full. */
  swept(): number {
    this.#sweeps++;
    const refused = this.#refused;
    this.#refused = 0;
    return refused;
  }
}

const counter = new RegExp(`^@${OFFERED}([012]): (\\d{1,15})$`);

function begins(head: Uint8Array, bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < head.length; i++) if (bytes[at + i] !== head[i]) return false;
  return true;
}

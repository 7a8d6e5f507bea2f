import type { Slice } from "../events/span.ts";
import type { FileKeys, ToldFile } from "./file_keys.ts";
import { FileReads } from "./file_reads.ts";
import type { IoResult } from "./io_schema.ts";

type FileResult = IoResult["files"][number];

interface Totals {
  opens: number;
  readonly reads: FileReads;
  fetches: number;
  fetchedBytes: number;
  fetchNs: number;
  mappedBytes: number;
  /** By call. */
  readonly fills: Map<string, Fill>;
  faults: number;
  faultNs: number;
  major: number;
  majorNs: number;
}

type Fill = FileResult["fills"][number];

const NONE = {
  opens: 0,
  fetches: 0,
  fetchedBytes: 0,
  fetchNs: 0,
  mappedBytes: 0,
  faults: 0,
  faultNs: 0,
  major: 0,
  majorNs: 0,
};

/** What entered the page cache of a file. */
export interface Cached extends ToldFile {
  readonly file: string;
  readonly bytes: number;
}

/** What was done with each file. */
export class FileTotals {
  readonly #files = new Map<string, Totals>();

  constructor(readonly keys: FileKeys) {}

  slice(slice: Slice): void {
    const { name, category, start, end, args, open } = slice;
    if (args?.file === undefined) return;
    // What one that has not returned has done by then, nobody knows.
    const bytes = open ? 0 : Number(args.bytes ?? 0), ns = end - start, unreturned = open ? 1 : 0;
    switch (category) {
      case "file.open": {
        const totals = this.#of(args);
        totals.opens++;
        return totals.reads.opened(bytes);
      }
      case "file.read":
        return this.#of(args).reads.add(slice, bytes);
      case "file.fetch": {
        const totals = this.#of(args);
        totals.fetches++;
        totals.fetchedBytes += bytes;
        totals.fetchNs += ns;
        return;
      }
      case "file.map": {
        const totals = this.#of(args);
        totals.mappedBytes += bytes;
        return fill(totals.fills, { call: "mmap", calls: 1, unreturned, bytes, ns });
      }
      case "library.load":
        this.#of(args).mappedBytes += bytes;
        return;
      case "memory.lock":
      case "memory.fill":
        return fill(this.#of(args).fills, { call: name, calls: 1, unreturned, bytes, ns });
      case "memory.touch": {
        const totals = this.#of(args);
        totals.faults += Number(args.faults ?? 0);
        totals.faultNs += ns;
        totals.major += Number(args.major ?? 0);
        totals.majorNs += Number(args.majorNs ?? 0);
      }
    }
  }

  result(cached: readonly Cached[]): FileResult[] {
    const bytes = new Map<string, number>();
    for (const file of cached) {
      this.#of(file);
      bytes.set(this.keys.of(file), file.bytes);
    }
    const shown = this.keys.shown();
    const files = [...Map.groupBy(this.#files, ([key]) => shown.get(key)!)].map(([file, parts]) => {
      const { reads, fills, ...totals } = summed(parts.map(([, totals]) => totals));
      const cachedBytes = cached.length > 0 ? parts.reduce((sum, [key]) => sum + (bytes.get(key) ?? 0), 0) : null;
      return {
        file,
        ...totals,
        ...reads.result(cachedBytes),
        fills: [...fills.values()].sort((a, b) => b.ns - a.ns),
        cachedBytes,
      };
    });
    const weight = ({ readNs, fetchNs, faultNs, fills }: FileResult) => fills.reduce((sum, { ns }) => sum + ns, readNs + fetchNs + faultNs);
    return files.sort((a, b) => weight(b) - weight(a) || b.mappedBytes - a.mappedBytes);
  }

  #of(file: ToldFile): Totals {
    const key = this.keys.of(file);
    let totals = this.#files.get(key);
    if (!totals) this.#files.set(key, totals = newTotals());
    return totals;
  }
}

function newTotals(): Totals {
  return { reads: new FileReads(), fills: new Map(), ...NONE };
}

function fill(fills: Map<string, Fill>, { call, calls, unreturned, bytes, ns }: Fill): void {
  const sums = fills.get(call) ?? { call, calls: 0, unreturned: 0, bytes: 0, ns: 0 };
  const all = { call, calls: sums.calls + calls, unreturned: sums.unreturned + unreturned, bytes: sums.bytes + bytes, ns: sums.ns + ns };
  fills.set(call, all);
}

function summed(parts: readonly Totals[]): Totals {
  const sums = newTotals();
  for (const { reads, fills, ...part } of parts) {
    sums.reads.merge(reads);
    for (const each of fills.values()) fill(sums.fills, each);
    for (const name of Object.keys(part) as (keyof typeof part)[]) sums[name] += part[name];
  }
  return sums;
}

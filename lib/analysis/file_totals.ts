import type { Slice } from "../events/span.ts";
import type { FileKeys, ToldFile } from "./file_keys.ts";
import { Histogram } from "./histogram.ts";
import type { IoResult } from "./io_schema.ts";

type FileResult = IoResult["files"][number];

interface Totals {
  opens: number;
  readonly times: Histogram;
  readBytes: number;
  fetches: number;
  fetchedBytes: number;
  fetchNs: number;
  mappedBytes: number;
  faults: number;
  faultNs: number;
  major: number;
  majorNs: number;
}

const NONE = { opens: 0, readBytes: 0, fetches: 0, fetchedBytes: 0, fetchNs: 0, mappedBytes: 0, faults: 0, faultNs: 0, major: 0, majorNs: 0 };

/** What entered the page cache of a file. */
export interface Cached extends ToldFile {
  readonly file: string;
  readonly bytes: number;
}

/** What was done with each file. */
export class FileTotals {
  readonly #files = new Map<string, Totals>();

  constructor(readonly keys: FileKeys) {}

  slice({ category, start, end, args }: Slice): void {
    if (args?.file === undefined) return;
    const bytes = Number(args.bytes ?? 0);
    switch (category) {
      case "file.open":
        this.#of(args).opens++;
        return;
      case "file.read": {
        const totals = this.#of(args);
        totals.times.add(end - start);
        totals.readBytes += bytes;
        return;
      }
      case "file.fetch": {
        const totals = this.#of(args);
        totals.fetches++;
        totals.fetchedBytes += bytes;
        totals.fetchNs += end - start;
        return;
      }
      case "file.map":
      case "library.load":
        this.#of(args).mappedBytes += bytes;
        return;
      case "memory.touch": {
        const totals = this.#of(args);
        totals.faults += Number(args.faults ?? 0);
        totals.faultNs += end - start;
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
      const { times, ...totals } = summed(parts.map(([, totals]) => totals));
      return {
        file,
        ...totals,
        reads: times.count,
        readNs: times.sum,
        readP50Ns: times.quantile(0.5),
        readP99Ns: times.quantile(0.99),
        cachedBytes: cached.length > 0 ? parts.reduce((sum, [key]) => sum + (bytes.get(key) ?? 0), 0) : null,
      };
    });
    const weight = ({ readNs, fetchNs, faultNs }: FileResult) => readNs + fetchNs + faultNs;
    return files.sort((a, b) => weight(b) - weight(a) || b.mappedBytes - a.mappedBytes);
  }

  #of(file: ToldFile): Totals {
    const key = this.keys.of(file);
    let totals = this.#files.get(key);
    if (!totals) this.#files.set(key, totals = { times: new Histogram(), ...NONE });
    return totals;
  }
}

function summed(parts: readonly Totals[]): Totals {
  const sums: Totals = { times: new Histogram(), ...NONE };
  for (const { times, ...part } of parts) {
    sums.times.merge(times);
    for (const name of Object.keys(part) as (keyof typeof part)[]) sums[name] += part[name];
  }
  return sums;
}

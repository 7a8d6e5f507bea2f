import type { Slice } from "../events/span.ts";
import { Histogram } from "./histogram.ts";
import type { IoResult } from "./io_schema.ts";

type FileResult = IoResult["files"][number];

interface Totals {
  readonly file: string;
  opens: number;
  readonly times: Histogram;
  readBytes: number;
  mappedBytes: number;
  faults: number;
  faultNs: number;
  major: number;
  majorNs: number;
}

const NONE = { opens: 0, readBytes: 0, mappedBytes: 0, faults: 0, faultNs: 0, major: 0, majorNs: 0 };

/** What was done with each file, by its name. */
export class FileTotals {
  readonly #files = new Map<string, Totals>();

  slice({ category, start, end, args }: Slice): void {
    const file = args?.file;
    if (file === undefined) return;
    const bytes = Number(args?.bytes ?? 0);
    switch (category) {
      case "file.open":
        this.#of(String(file)).opens++;
        return;
      case "file.read": {
        const totals = this.#of(String(file));
        totals.times.add(end - start);
        totals.readBytes += bytes;
        return;
      }
      case "file.map":
      case "library.load":
        this.#of(String(file)).mappedBytes += bytes;
        return;
      case "memory.touch": {
        const totals = this.#of(String(file));
        totals.faults += Number(args?.faults ?? 0);
        totals.faultNs += end - start;
        totals.major += Number(args?.major ?? 0);
        totals.majorNs += Number(args?.majorNs ?? 0);
      }
    }
  }

  /** `cached`: bytes that entered the page cache, by file. */
  result(cached: ReadonlyMap<string, number>): FileResult[] {
    for (const file of cached.keys()) this.#of(file);
    const files = [...this.#files.values()].map(({ times, ...totals }) => ({
      ...totals,
      reads: times.count,
      readNs: times.sum,
      readP50Ns: times.quantile(0.5),
      readP99Ns: times.quantile(0.99),
      cachedBytes: cached.get(totals.file) ?? (cached.size > 0 ? 0 : null),
    }));
    const weight = ({ readNs, faultNs }: FileResult) => readNs + faultNs;
    return files.sort((a, b) => weight(b) - weight(a) || b.mappedBytes - a.mappedBytes);
  }

  #of(file: string): Totals {
    let totals = this.#files.get(file);
    if (!totals) this.#files.set(file, totals = { file, times: new Histogram(), ...NONE });
    return totals;
  }
}

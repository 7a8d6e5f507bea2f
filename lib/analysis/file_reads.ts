import type { Slice } from "../events/span.ts";
import { Histogram } from "./histogram.ts";
import type { IoResult } from "./io_schema.ts";
import { UnionTime } from "./union_time.ts";

type ReadsResult = Pick<
  IoResult["files"][number],
  "reads" | "unreturned" | "readBytes" | "readNs" | "readingNs" | "readP50Ns" | "readP99Ns"
>;

/** There are many files, and who reads one at the same time ends at nearly the same time. */
const MOST_STRETCHES = 1024;

/** Reads of one file. */
export class FileReads {
  readonly #times = new Histogram();
  readonly #reading = new UnionTime(MOST_STRETCHES);
  #unreturned = 0;
  #bytes = 0;

  add({ start, end, open }: Slice, bytes: number): void {
    this.#times.add(end - start);
    this.#reading.add(start, end);
    if (open) this.#unreturned++;
    this.#bytes += bytes;
  }

  merge(other: FileReads): void {
    this.#times.merge(other.#times);
    this.#reading.merge(other.#reading);
    this.#unreturned += other.#unreturned;
    this.#bytes += other.#bytes;
  }

  result(): ReadsResult {
    const times = this.#times;
    return {
      reads: times.count,
      unreturned: this.#unreturned,
      readBytes: this.#bytes,
      readNs: times.sum,
      readingNs: this.#reading.ns,
      readP50Ns: times.quantile(0.5),
      readP99Ns: times.quantile(0.99),
    };
  }
}

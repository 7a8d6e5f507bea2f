import type { Slice } from "../events/span.ts";
import { Histogram } from "./histogram.ts";
import type { IoResult } from "./io_schema.ts";
import { UnionTime } from "./union_time.ts";

type ReadsResult = Pick<
  IoResult["files"][number],
  "reads" | "unreturned" | "readBytes" | "readOnceBytes" | "readNs" | "readingNs" | "readP50Ns" | "readP99Ns"
>;

/** There are many files, and who reads one at the same time ends at nearly the same time. */
const MOST_STRETCHES = 1024;
/** Those that read a model together are few. */
const MOST_PROCESSES = 1000;

/** Of what one of them read: where nearly as much came, the rest was in memory, or is the end of a page. */
const NEARLY = 0.1;

/** Reads of one file. */
export class FileReads {
  readonly #times = new Histogram();
  readonly #reading = new UnionTime(MOST_STRETCHES);
  #unreturned = 0;
  #bytes = 0;
  /** By process. */
  readonly #readBy = new Map<number, number>();
  #size = 0;

  /** It was opened, and so long. */
  opened(size: number): void {
    this.#size = Math.max(this.#size, size);
  }

  add({ track: { pid }, start, end, open }: Slice, bytes: number): void {
    this.#times.add(end - start);
    this.#reading.add(start, end);
    if (open) this.#unreturned++;
    this.#bytes += bytes;
    this.#by(pid, bytes);
  }

  merge(other: FileReads): void {
    this.#times.merge(other.#times);
    this.#reading.merge(other.#reading);
    this.#unreturned += other.#unreturned;
    this.#bytes += other.#bytes;
    this.#size += other.#size;
    for (const [pid, bytes] of other.#readBy) this.#by(pid, bytes);
  }

  /** `came`: bytes of it that entered the page cache; null where nobody knows. */
  result(came: number | null): ReadsResult {
    const times = this.#times;
    return {
      reads: times.count,
      unreturned: this.#unreturned,
      readBytes: this.#bytes,
      readOnceBytes: this.#once(came),
      readNs: times.sum,
      readingNs: this.#reading.ns,
      readP50Ns: times.quantile(0.5),
      readP99Ns: times.quantile(0.99),
    };
  }

  /** Of one that nobody saw opened what came says whether each of them read all of it: if not, each its part. */
  #once(came: number | null): number {
    const most = Math.max(0, ...this.#readBy.values()), isAll = came !== null && Math.abs(came - most) <= NEARLY * most;
    return Math.max(most, Math.min(this.#bytes, this.#size || (isAll ? most : this.#bytes)));
  }

  #by(pid: number, bytes: number): void {
    const before = this.#readBy.get(pid);
    if (before !== undefined || this.#readBy.size < MOST_PROCESSES) this.#readBy.set(pid, (before ?? 0) + bytes);
  }
}

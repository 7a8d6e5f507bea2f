import type { Instant, Slice } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import { Intervals } from "./intervals.ts";
import type { OperatorsResult } from "./operators_schema.ts";
import type { StoppedTimes } from "./stopped.ts";

/** What each kind of call is called in a result. */
const KINDS: Readonly<Record<string, OperatorsResult["libraryCalls"][number]["name"]>> = {
  "llama.encode": "encode",
  "llama.tokenize": "tokenize",
  "llama.detokenize": "detokenize",
  "llama.save": "save state",
  "llama.restore": "restore state",
};

/** Before one decode; a server that is only asked for tokens has no next one. */
const MOST_CALLS = 65_536;

/** What an engine asks of libllama besides decoding, and how much of the time between two decodes that explains. */
export class LibraryCalls {
  readonly #sums = new Map<string, { calls: number; ns: number }>();
  readonly #changes = new Map<string, number>();
  /** By process: calls since its last decode ended. */
  readonly #since = new Map<number, Intervals>();
  #cells: number | null = null;
  #longest: number | null = null;

  constructor(readonly stopped: StoppedTimes) {}

  call(slice: Slice): void {
    const kind = KINDS[slice.category]!;
    const { pid } = slice.track;
    const sum = this.#sums.get(kind) ?? { calls: 0, ns: 0 };
    sum.calls++;
    if (!slice.open) sum.ns += this.stopped.net(pid, slice.start, slice.end);
    this.#sums.set(kind, sum);
    this.explains(slice);
  }

  /** Time between two decodes goes to this call. */
  explains({ track: { pid }, start, end }: Slice): void {
    const since = this.#since.get(pid);
    if (since && since.count < MOST_CALLS) since.add(start, end);
  }

  /** Nanoseconds of [start, end), all of it since the process decoded, in which it was in none of these calls and did not stand still. */
  unexplained(pid: number, start: Ns, end: Ns): number {
    const known = this.stopped.union([pid]);
    const since = this.#since.get(pid);
    if (since) known.addAll(since);
    return end - start - known.overlap(start, end);
  }

  /** What is asked from now on is asked before the next decode. */
  decoded({ track: { pid }, args }: Slice): void {
    this.#since.set(pid, new Intervals());
    if (typeof args?.position === "number") this.#longest = Math.max(this.#longest ?? 0, args.position + 1);
  }

  context({ args, open }: Slice): void {
    if (!open && args?.ok === true && typeof args.cells === "number") this.#cells = Math.max(this.#cells ?? 0, args.cells);
  }

  change({ name }: Instant): void {
    this.#changes.set(name, (this.#changes.get(name) ?? 0) + 1);
  }

  /** `attendedCells`: of the cache, as operators tell. */
  result(attendedCells: number | null): Pick<OperatorsResult, "libraryCalls" | "cache"> {
    const libraryCalls = Object.values(KINDS).flatMap((name) => {
      const sum = this.#sums.get(name);
      return sum ? [{ name, ...sum }] : [];
    });
    const changes = [...this.#changes].map(([name, calls]) => ({ name, calls }));
    return { libraryCalls, cache: { cells: this.#cells, attendedCells, longestSequence: this.#longest, changes } };
  }
}

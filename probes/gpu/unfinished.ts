import type { SpanSink, Track } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { ProcessCode } from "../process/code.ts";
import { type Family, signatureOf } from "./signatures.ts";

interface Unfinished {
  readonly track: Track;
  readonly family: Family;
  readonly name: string;
  readonly began: Ns;
  readonly until: Ns;
}

const MOST_ENDED = 32;

/** Calls that had not returned when the window was shut, or when their process ended in them: what a GPU that hangs looks like from here. */
export class UnfinishedCalls {
  #found: Unfinished[] = [];
  /** When processes ended. The code of the last ones is known until counting ends. */
  readonly #ended = new Map<number, Ns>();

  constructor(readonly code: ProcessCode) {}

  begins(pid: number): void {
    this.#ended.delete(pid);
  }

  ended(pid: number, at: Ns): void {
    this.#ended.set(pid, at);
    const [first] = this.#ended.keys();
    if (this.#ended.size <= MOST_ENDED) return;
    this.#ended.delete(first!);
    this.code.forget(first!);
  }

  /** A call that has begun. Each family's program tells of those of all families; of its own it is told here. */
  add(family: Family, track: Track, address: number, began: Ns, at: Ns): void {
    const name = signatureOf(family, this.code.find(track.pid, address)?.name ?? "")?.name;
    if (name === undefined) return;
    const ended = this.#ended.get(track.pid) ?? at;
    this.#found.push({ track, family, name, began, until: ended < began ? at : ended });
  }

  /** The inner ones first, as calls return. */
  tell(out: SpanSink): void {
    for (const { track, family, name, began, until } of this.#found.sort((a, b) => b.began - a.began)) {
      out({ type: "slice", track, name, category: "gpu.unfinished", start: began, end: until, args: { library: family } });
    }
    this.#found = [];
  }
}

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

/** Of the last processes and threads that ended it is known what they ended in. */
const MOST_PROCESSES = 32, MOST_THREADS = 4096;

/** Calls that had not returned when the window was shut, or when their thread ended: what a GPU that hangs looks like from here. */
export class UnfinishedCalls {
  #found: Unfinished[] = [];
  /** By process: when what it runs began, where that was seen. What was open then is gone. */
  readonly #began = new Map<number, Ns>();
  /** By thread. */
  readonly #ended = new Map<number, Ns>();
  /** Processes that ended, whose code is known until counting ends. */
  readonly #gone = new Set<number>();

  constructor(readonly code: ProcessCode) {}

  /** A process begins, or another program in it. */
  begins(pid: number, at: Ns): void {
    this.#began.set(pid, at);
    this.#gone.delete(pid);
  }

  /** A thread; `isOver`: its process, too. */
  ended(pid: number, tid: number, at: Ns, isOver: boolean): void {
    if (isOver) this.#began.delete(pid);
    if (!this.code.has(pid)) return;
    this.#ended.delete(tid);
    this.#ended.set(tid, at);
    if (this.#ended.size > MOST_THREADS) this.#ended.delete(this.#ended.keys().next().value!);
    if (!isOver) return;
    this.#gone.add(pid);
    if (this.#gone.size <= MOST_PROCESSES) return;
    const [first] = this.#gone;
    this.#gone.delete(first!);
    this.code.forget(first!);
  }

  /** A call that has begun. Each family's program tells of those of all families; of its own it is told here. */
  add(family: Family, track: Track, address: number, began: Ns, at: Ns): void {
    const { pid, tid } = track;
    const name = signatureOf(family, this.code.find(pid, address)?.name ?? "")?.name;
    if (name === undefined || began < (this.#began.get(pid) ?? began)) return;
    const ended = this.#ended.get(tid!) ?? at;
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

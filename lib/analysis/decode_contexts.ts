import type { Slice } from "../events/span.ts";
import { DecodeContext } from "./decode_context.ts";
import { StoppedTimes } from "./stopped.ts";

interface Process {
  /** By address. */
  readonly there: Map<number, DecodeContext>;
  readonly all: DecodeContext[];
}

/** The `llama_context`s of all processes: what is generated is that of those that do not guess for another one. */
export class DecodeContexts {
  readonly #processes = new Map<number, Process>();

  /** `stopped`: for whoever tells of their times. */
  constructor(readonly stopped = new StoppedTimes()) {}

  /** The one that is called. */
  of({ track: { pid }, args }: Slice): DecodeContext {
    let process = this.#processes.get(pid);
    if (!process) this.#processes.set(pid, process = { there: new Map(), all: [] });
    const address = Number(args?.context ?? 0);
    let context = process.there.get(address);
    if (!context) {
      process.there.set(address, context = new DecodeContext(pid, address));
      process.all.push(context);
    }
    return context;
  }

  /** A call: how many tokens it generated for certain, or null where it failed or had not ended. */
  decode(slice: Slice): number | null {
    const context = this.of(slice);
    context.called(slice);
    if (slice.open || Number(slice.args?.ret ?? 0) !== 0) return null;
    return context.decoded(slice, this.#processes.get(context.pid)!.there.values(), this.stopped);
  }

  /** A context was made: one of the same address is no more. */
  made({ track: { pid }, args }: Slice): void {
    this.#processes.get(pid)?.there.delete(Number(args?.context));
  }

  /** What comes next follows from nothing that was seen. */
  interrupt(): void {
    for (const { all } of this.#processes.values()) for (const context of all) context.interrupt();
  }

  /** All that there were, in the order of their first calls. */
  all(pid: number): readonly DecodeContext[] {
    return this.#processes.get(pid)?.all ?? [];
  }

  get count(): number {
    return this.#processes.values().reduce((sum, { all }) => sum + all.length, 0);
  }

  guessers(pid: number): Set<DecodeContext> {
    return new Set(this.all(pid).flatMap((context) => context.guessers));
  }

  /** Tokens until now. */
  get generated(): number {
    let sum = 0;
    for (const [pid, { all }] of this.#processes) {
      const guessers = this.guessers(pid);
      for (const context of all) if (!guessers.has(context)) sum += context.tokens.decode;
    }
    return sum;
  }
}

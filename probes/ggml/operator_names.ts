import type { Fact } from "../../lib/events/fact.ts";
import { cpuBackend } from "./library.ts";

/** Names of operators by their numbers, as the library has them in which a stream's program stands. */
export class OperatorNames {
  #all: readonly string[] = [];
  readonly #own = new Map<string, readonly string[]>();

  fact(fact: Fact): void {
    if (fact.fact !== "table" || fact.symbol !== cpuBackend.table) return;
    if (fact.stream === undefined) this.#all = fact.names;
    else this.#own.set(fact.stream, fact.names);
  }

  of(stream: string): readonly string[] {
    return this.#own.get(stream) ?? this.#all;
  }
}

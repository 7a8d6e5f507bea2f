import { ProcessEnds } from "./ends.ts";
import type { Event } from "../../lib/events/event.ts";
import { holding } from "../../lib/events/sorted.ts";
import type { CodeFact, Fact } from "../../lib/events/fact.ts";

/** What an address stands for: a file, empty where the code is in none, and a function where one is known there. */
export interface Code {
  readonly file: string;
  readonly name: string | null;
}

/** The code of each process, for a decoder that sees `process/life`. A process that is forked has its code where its parent has it, until it begins another program. */
export class ProcessCode {
  /** By process; of each, by the library whose functions are known. */
  readonly #maps = new Map<number, Map<string, CodeMap>>();
  readonly #ends = new ProcessEnds();

  fact(fact: Fact): void {
    if (fact.fact !== "code") return;
    const { pid, of = "" } = fact;
    // A child's are its own from now on.
    this.#maps.set(pid, new Map(this.#maps.get(pid)).set(of, new CodeMap(fact)));
  }

  /** A `process/life.task`, `.exec` or `.exit`. */
  life(event: Event): void {
    const { record, pid, values } = event;
    const maps = this.#maps.get(pid);
    if (record === "process/life.task") {
      const [id, isThread] = values as readonly number[];
      if (maps && !isThread) this.#maps.set(id!, maps);
    } else if (this.#ends.with(event)) this.forget(pid);
  }

  /** Whether anything of a process is known. */
  has(pid: number): boolean {
    return this.#maps.has(pid);
  }

  forget(pid: number): void {
    this.#maps.delete(pid);
  }

  /** Null where no code was when the process was looked at. */
  find(pid: number, address: number): Code | null {
    let found: Code | null = null;
    for (const map of this.#maps.get(pid)?.values() ?? []) {
      const code = map.find(address);
      if (code?.name) return code;
      found ??= code;
    }
    return found;
  }
}

/** The code of a process by its addresses. */
export class CodeMap {
  readonly #ranges: CodeFact["ranges"];
  readonly #functions: CodeFact["functions"];

  constructor({ ranges, functions }: CodeFact) {
    this.#ranges = ranges.toSorted((a, b) => a.at - b.at);
    this.#functions = functions.toSorted((a, b) => a.at - b.at);
  }

  /** The same for an address of each process that has the same code there, also where its loader has put that elsewhere. */
  placeOf(address: number): string {
    const range = holding(this.#ranges, address);
    return range?.file ? `${range.file} ${address - range.at}` : String(address);
  }

  /** Null where no code was when the process was looked at. */
  find(address: number): Code | null {
    const range = holding(this.#ranges, address);
    return range && { file: range.file, name: holding(this.#functions, address)?.name ?? null };
  }
}

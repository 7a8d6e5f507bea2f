import type { Event } from "../events/event.ts";
import { FilesOnce } from "../machine/files_once.ts";
import { findLibraries } from "../programs/found_libraries.ts";
import { readCode } from "../target/code.ts";
import { CodeMap } from "../../probes/process/code.ts";
import { isOperator, libtorch } from "../../probes/torch/library.ts";
import type { Means } from "./means.ts";
import { sideLook } from "./side_look.ts";

/** What is found out of a PyTorch process before it is looked at: which functions ask for operators. */
export class Learning {
  /** Process → addresses that a call returned to. */
  readonly #callers = new Map<number, Set<number>>();
  readonly #first = Promise.withResolvers<void>();
  readonly #applied = Promise.withResolvers<void>();
  #count = 0;
  #functions: readonly string[] = [];
  /** Places that call and are no operator of PyTorch's, the same in each process. */
  readonly #others = new Set<string>();
  /** By process, what was read when it first called: it may have ended when all is learned. */
  readonly #early = new Map<number, Promise<CodeMap | null>>();
  /** For these: the symbols of a library are read once. */
  #files: FilesOnce | null;

  /** `quietMs`: it is over when for so long nothing new was learned. */
  constructor(readonly means: Means, readonly quietMs: number) {
    this.#files = new FilesOnce(means.files);
  }

  /** Every event of the target. */
  heard({ record, pid, values }: Event): void {
    if (record !== "torch/learn.caller") return;
    let callers = this.#callers.get(pid);
    if (!callers) {
      this.#callers.set(pid, callers = new Set());
      if (this.#files) this.#early.set(pid, sideLook(this.#code(this.#files, pid), null));
    }
    const before = callers.size;
    this.#count += callers.add(values[0] as number).size - before;
    this.#first.resolve();
  }

  /** Resolves when nothing new comes any more; a process that computes nothing is waited for. */
  async over(): Promise<void> {
    await this.#first.promise;
    for (let seen = 0; seen < this.#count;) {
      seen = this.#count;
      await this.means.sleep(this.quietMs);
    }
    const files = new FilesOnce(this.means.files);
    const found = await Promise.all([...this.#callers].map(([pid, callers]) => this.#operators(files, pid, callers)));
    this.#functions = [...new Set(found.flat())].sort();
    this.#files = null;
    this.#early.clear();
  }

  /** What was learned is looked at from now on. */
  applied(): void {
    this.#applied.resolve();
  }

  /** Resolves when it is. */
  get isApplied(): Promise<void> {
    return this.#applied.promise;
  }

  /** Nothing has run yet. */
  get isIdle(): boolean {
    return this.#count === 0;
  }

  /** By their mangled names, after {@link over}. */
  get functions(): readonly string[] {
    return this.#functions;
  }

  /** In a sentence. */
  get learned(): string {
    const { size } = this.#others;
    const others = size > 0 ? `; ${size} other ${size === 1 ? "place dispatches" : "places dispatch"} some as well, which are not timed` : "";
    const count = this.#functions.length;
    if (count === 0) return `no operator is known by its name, and none is timed${others}`;
    return `${count} ${count === 1 ? "operator runs and is" : "operators run and are"} timed from here on; another is not seen${others}`;
  }

  /** Those that called; what else dispatches, such as a compiled graph or an operator that is no part of PyTorch, is counted. */
  async #operators(files: FilesOnce, pid: number, callers: ReadonlySet<number>): Promise<string[]> {
    const maps = [await this.#code(files, pid), await this.#early.get(pid)].filter((map) => map != null);
    const [map] = maps;
    // It had ended before it could be looked at.
    if (!map) return [];
    return [...callers].flatMap((address) => {
      // By then it may be another program.
      const name = maps.map((map) => map.find(address)?.name).find((name) => name);
      if (!name) this.#others.add(map.placeOf(address));
      return name ?? [];
    });
  }

  /** Null when the process has ended. */
  async #code(files: FilesOnce, pid: number): Promise<CodeMap | null> {
    const libraries = await findLibraries(files, pid, libtorch, [isOperator]);
    const code = await readCode(files, pid, libraries, [isOperator]);
    return code && new CodeMap(code);
  }
}

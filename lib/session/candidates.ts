import type { Event } from "../events/event.ts";
import type { Probe } from "../programs/probe.ts";
import { probeOf } from "../timeline/dispatch.ts";
import { cutFile, isInference, mappedByHelpers } from "./election.ts";
import type { Means } from "./means.ts";

/** Who is there for so long is no helper; what it did first is kept for longer. */
const HELPER_MS = 30_000;
/** What a library's probes say is gathered: it may come behind the exit. */
const GATHERED_MS = 1000;

export interface CandidateOptions {
  readonly probes: readonly Probe[];
  readonly sleep: Means["sleep"];
  /** It is the one that is waited for. */
  readonly elect: (pid: number) => void;
  /** It may have llama.cpp linked into it, which comes to no gate. */
  readonly mapped: (pid: number) => void;
  /** It was none. */
  readonly passed: (pid: number) => void;
  /** Its end may not have been told. */
  readonly isThere: (pid: number) => Promise<boolean>;
  /** The whole path of a file that a process holds, where that can be read. */
  readonly heldPath: (pid: number, file: { readonly dev: number; readonly inode: number }) => Promise<string | null>;
}

/**
 * Who of all that start is waited for. Engines start helpers that map ggml and CUDA's library to ask which devices there are, and end (ollama before each
 * model, `llama-server --list-devices`): so who maps these is the one when it opens weights, computes, or stays.
 */
export class Candidates {
  readonly #pids = new Set<number>();
  readonly #computing: ReadonlySet<string>;

  constructor(readonly options: CandidateOptions) {
    this.#computing = new Set(options.probes.filter(({ library }) => library).map(({ name }) => name));
  }

  /** The first that is there. */
  async present(): Promise<number | undefined> {
    for (const pid of this.#pids) if (await this.options.isThere(pid)) return pid;
    return undefined;
  }

  event(event: Event): void {
    const { record, pid, tid } = event;
    if (isInference(event) || this.#computing.has(probeOf(record))) return this.#elect(pid);
    const file = cutFile(event);
    if (file !== null) void this.#askFor(event, file);
    const library = mappedByHelpers(event);
    if (library !== null) this.#add(pid, library);
    if (record === "process/life.exit" && pid === tid && this.#pids.has(pid)) {
      void this.options.sleep(GATHERED_MS).then(() => this.#pass(pid));
    }
  }

  /** Its end tells what kind of file it is, or its folder does. */
  async #askFor(event: Event, file: { readonly dev: number; readonly inode: number }): Promise<void> {
    const path = await this.options.heldPath(event.pid, file);
    if (path !== null && isInference({ ...event, values: [path] })) this.#elect(event.pid);
  }

  #add(pid: number, library: string): void {
    if (this.#pids.has(pid)) return;
    this.#pids.add(pid);
    // Who maps libllama stands at its gate.
    if (!library.startsWith("libllama")) this.options.mapped(pid);
    void this.options.sleep(HELPER_MS).then(() => this.#stays(pid));
  }

  async #stays(pid: number): Promise<void> {
    if (!this.#pids.has(pid)) return;
    if (await this.options.isThere(pid)) this.#elect(pid);
    else this.#pass(pid);
  }

  #pass(pid: number): void {
    if (this.#pids.delete(pid)) this.options.passed(pid);
  }

  #elect(pid: number): void {
    this.#pids.clear();
    this.options.elect(pid);
  }
}

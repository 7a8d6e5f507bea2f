import type { Track } from "../../lib/events/span.ts";

/**
 * Chrome knows rows only as threads of processes. Rows that are none get numbers from here on, which no process or thread can have: the
 * kernel gives none above 4,194,304 (`PID_MAX_LIMIT`).
 */
const firstOwn = 10_000_000;

/** The process that stands for llmprof, and the one for rows and counters of the whole machine. */
const runPid = firstOwn;
const machinePid = firstOwn + 1;

/** Writes a metadata event: `row` is `"pid":…,"tid":…`, `key` such as `thread_name`. */
type Metadata = (row: string, key: string, args: Record<string, string | number>) => void;

/** Gives each track its pid and tid, and names them before they are used. */
export class ChromeRows {
  readonly #rows = new Map<Track, string>();
  readonly #processes = new Map<number, string>();
  readonly #metadata: Metadata;
  #lastOwn = firstOwn + 1;

  constructor(metadata: Metadata) {
    this.#metadata = metadata;
  }

  /** `"pid":…,"tid":…` of a track. */
  of(track: Track): string {
    let row = this.#rows.get(track);
    if (row === undefined) this.#rows.set(track, row = this.#describe(track));
    return row;
  }

  /** `"pid":…` of a process, 0 for the whole machine. */
  process(pid: number): string {
    return this.#process(pid === 0 ? machinePid : pid);
  }

  /** The row of llmprof itself. */
  run(): string {
    return `${this.#process(runPid)},"tid":${runPid}`;
  }

  rename(track: Track, name: string): void {
    // A thread may call itself nothing at all; trace_processor takes that for an error.
    if (name === "") return;
    if (track.kind === "process") this.#metadata(`${this.process(track.pid)},"tid":${track.pid}`, "process_name", { name });
    else this.#metadata(this.of(track), "thread_name", { name });
  }

  #describe(track: Track): string {
    if (track.kind === "run" && track.id > 0) return this.run();
    const pid = track.kind === "run" ? this.#process(runPid) : this.process(track.pid);
    const row = `${pid},"tid":${track.kind === "thread" ? track.tid : ++this.#lastOwn}`;
    this.#metadata(row, "thread_name", { name: track.kind === "process" ? "process" : track.name });
    if (track.rank !== undefined) this.#metadata(row, "thread_sort_index", { sort_index: track.rank });
    return row;
  }

  #process(pid: number): string {
    let text = this.#processes.get(pid);
    if (text === undefined) {
      this.#processes.set(pid, text = `"pid":${pid}`);
      if (pid === runPid) {
        this.#metadata(`${text},"tid":${pid}`, "process_name", { name: "llmprof" });
        this.#metadata(`${text},"tid":${pid}`, "thread_name", { name: "llmprof" });
      }
      if (pid === machinePid) this.#metadata(`${text},"tid":${pid}`, "process_name", { name: "machine" });
    }
    return text;
  }
}

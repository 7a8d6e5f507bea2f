import type { Instant, Slice, Span } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import { type Activity, activityOf } from "./activity.ts";
import { ActivityLog } from "./activity_log.ts";
import type { Analysis } from "./analysis.ts";
import { coldstartResult } from "./coldstart_result.ts";
import type { ColdstartResult } from "./coldstart_schema.ts";
import { DecodeContexts } from "./decode_contexts.ts";
import { FirstToken } from "./first_token.ts";
import { Generation } from "./generation.ts";
import type { Listening } from "./listening.ts";
import { MemoryTotals } from "./memory_totals.ts";
import { ProcessTree } from "./process_tree.ts";
import { QualityCount } from "./quality.ts";
import { RunningCode } from "./running_code.ts";
import { StoppedTimes } from "./stopped.ts";
import { SystemCalls } from "./system_calls.ts";

/** Before a first token: what is kept is bounded. */
const MOST_ACCEPTED = 1 << 16, MOST_LISTENING = 1 << 10;

export interface ColdstartOptions {
  /** The process whose start is looked at; otherwise the first that calls exec. */
  readonly rootPid?: number;
  /** Who belongs to its tree from the beginning: its children, theirs, and so on. */
  readonly tree?: readonly (readonly number[])[];
}

/** Where the time from a process' exec to its first token goes. */
export function coldstart(options: ColdstartOptions = {}): Analysis<ColdstartResult> {
  return new ColdstartAnalysis(options);
}

class ColdstartAnalysis implements Analysis<ColdstartResult> {
  readonly #tree: ProcessTree;
  readonly #stopped = new StoppedTimes();
  readonly #log = new ActivityLog((from, to) => this.#stopped.net(from.pid, from.end, to.start));
  readonly #generation = new Generation();
  /** What came behind an answer that may not be the last. */
  readonly #undecided: Activity[] = [];
  readonly #contexts = new DecodeContexts();
  readonly #tokens = new Map<number, FirstToken>();
  readonly #memory = new MemoryTotals();
  readonly #running = new RunningCode();
  /**
   * When a connection was accepted, until there is a token: by the outermost process that accepts any. Behind it a server talks to the workers that it
   * has started.
   */
  #accepted: { readonly depth: number; readonly at: Ns[] } = { depth: Infinity, at: [] };
  /** Sockets that began to listen until then. */
  readonly #listening: Listening[] = [];
  readonly #systemCalls = new SystemCalls();
  readonly #quality = new QualityCount();
  /** The process that gave the first token, as soon as no later span can change that, and at the end. */
  #certain: FirstToken | undefined;
  #firstSeen: Ns = Infinity;
  #lastSeen: Ns = -Infinity;

  constructor({ rootPid, tree }: ColdstartOptions) {
    this.#tree = new ProcessTree(rootPid, tree);
  }

  span(span: Span): void {
    switch (span.type) {
      case "slice":
        return this.#slice(span);
      case "instant":
        if (span.category === "process.syscalls") return this.#systemCalls.instant(span);
        if (span.category === "process.running" && !this.#certain) this.#running.add(span);
        if (span.category === "socket.accept") this.#accept(span);
        this.#tree.instant(span);
        return this.#saw(span.track.pid, span.at, span.at);
      case "counter":
        return this.#memory.counter(span);
      case "name":
        return this.#systemCalls.name(span);
      case "mark":
        return this.#quality.mark(span);
    }
  }

  result(): ColdstartResult {
    const token = this.#best();
    if (token && token.basis !== "last call") this.#decide(token);
    for (const activity of this.#undecided.splice(0)) this.#log.add(activity);
    return coldstartResult({
      tree: this.#tree,
      stopped: this.#stopped,
      activities: [...this.#log.activities(), ...this.#generation.activities].sort((a, b) => a.start - b.start),
      coarse: this.#log.coarse,
      firstSeen: this.#firstSeen,
      lastSeen: this.#lastSeen,
      token,
      listening: this.#listening,
      accepted: this.#accepted,
      running: this.#running,
      memory: this.#memory.result(this.#tree.pids),
      systemCalls: this.#systemCalls.result(),
      quality: this.#quality.result(),
    });
  }

  #accept({ track, at }: Instant): void {
    const depth = this.#tree.depth(track.pid);
    if (depth === undefined || this.#certain) return;
    if (depth < this.#accepted.depth) this.#accepted = { depth, at: [] };
    if (depth === this.#accepted.depth && this.#accepted.at.length < MOST_ACCEPTED) this.#accepted.at.push(at);
  }

  #listen({ track, start, args }: Slice): void {
    if (this.#certain || Number(args?.errno) !== 0 || this.#listening.length === MOST_LISTENING) return;
    this.#listening.push({ at: start, depth: this.#tree.depth(track.pid)!, port: args?.port as number | undefined });
  }

  #slice(slice: Slice): void {
    const { pid } = slice.track;
    // Of any process: which ones belong to the tree may be known only later.
    if (slice.category === "llmprof.stopped") this.#stopped.add(slice);
    if (!this.#tree.has(pid)) return;
    this.#saw(pid, slice.start, slice.end);
    if (slice.category === "memory.lock") this.#memory.lock(slice);
    if (slice.category === "socket.listen") this.#listen(slice);
    const activity = activityOf(slice, this.#stopped.net(pid, slice.start, slice.end));
    if (slice.category === "llama.context") {
      this.#contexts.made(slice);
      this.#token(pid).made(slice);
    }
    if (!activity) return;
    if (slice.category !== "llama.decode" && slice.category !== "llama.sample") return this.#log.add(activity);
    const first = this.#token(pid);
    if (this.#certain) this.#generates(activity, this.#certain.at!);
    else if (first.basis !== "last call" && slice.start >= first.at!) this.#undecided.push(activity);
    else this.#log.add(activity);
    if (slice.category === "llama.sample") first.sample(slice);
    else if (this.#contexts.decode(slice) !== null) first.decode(slice);
    if (first.certain && !(this.#certain && this.#certain.at! <= first.at!)) this.#decide(first);
  }

  #token(pid: number): FirstToken {
    let first = this.#tokens.get(pid);
    if (!first) this.#tokens.set(pid, first = new FirstToken(pid, this.#contexts));
    return first;
  }

  /** The first one, of those that anything followed if there are such. */
  #best(): FirstToken | undefined {
    const all = [...this.#tokens.values()].filter(({ at }) => at !== undefined).sort((a, b) => a.at! - b.at!);
    return all.find(({ basis }) => basis !== "last call") ?? all[0];
  }

  /** What is behind the first token is generation. */
  #decide(first: FirstToken): void {
    this.#certain = first;
    for (const activity of this.#undecided.splice(0)) this.#generates(activity, first.at!);
  }

  #generates(activity: Activity, token: Ns): void {
    if (activity.start >= token) this.#generation.add(activity);
    else this.#log.add(activity);
  }

  #saw(pid: number, from: Ns, to: Ns): void {
    if (!this.#tree.has(pid)) return;
    this.#firstSeen = Math.min(this.#firstSeen, from);
    this.#lastSeen = Math.max(this.#lastSeen, to);
  }
}

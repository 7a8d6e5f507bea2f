import { type Running, start } from "../harness/command.ts";
import type { Temporary } from "../harness/temporary.ts";
import { copyCounted, librariesIn } from "../workloads/counted.ts";
import { type LiveOptions, outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { hasMapped, type ProcessRow, treeFrom, until } from "./processes.ts";

/** What a trace holds of a counted target. */
export interface TargetCounts {
  readonly decodes: number;
  readonly graphs: number;
  readonly operators: number;
  readonly lost: number;
  readonly undecodable: number;
}

/** A kind of target. All make the same calls, so all have the same counts as the plain one. */
export interface TargetKind {
  readonly name: string;
  /** Libraries times processes that make the calls. */
  readonly times: number;
  readonly podman?: boolean;
  /** Nothing in it that another kind has not, too: only targets.ts counts it. */
  readonly seldom?: boolean;
  readonly run: (way: Way) => Promise<void>;
}

interface RunningOptions {
  /** What names it instead of its number. */
  readonly by?: readonly string[];
  readonly flags?: readonly string[];
  /** What happens before llmprof comes. */
  readonly first?: () => void | Promise<unknown>;
  /** The target is not the first process that makes calls, but all that was started. */
  readonly whole?: boolean;
  /** The file that lets the target make its calls, where that is not the usual one. */
  readonly go?: string;
  /** What happens when it may make its calls. */
  readonly meanwhile?: () => Promise<void>;
}

/** How the kinds start their targets and let llmprof at them. */
export class Way {
  counts: TargetCounts | undefined;
  readonly go: string;

  constructor(readonly bpftrace: string, readonly folder: Temporary) {
    this.go = folder.file("go");
  }

  /** llmprof starts it. */
  async started(argv: readonly string[], meanwhile?: (llmprof: Running) => Promise<void>): Promise<void> {
    await using llmprof = this.#llmprof({ target: { argv } });
    await meanwhile?.(llmprof);
    await this.#finish(llmprof);
  }

  /** It runs, llmprof comes, and when everything is attached it makes its calls. */
  async running(argv: readonly string[], { by, flags = [], first, whole = false, go, meanwhile }: RunningOptions = {}): Promise<void> {
    await using target = start(argv);
    await target.saw("ready");
    await first?.();
    const which = by ? { flags: [...flags, ...by] } : { flags, target: { pid: whole ? target.pid : countedIn(target.pid) } };
    await this.attached(which, async () => {
      Deno.writeTextFileSync(go ?? this.go, "");
      await meanwhile?.();
    });
    await target.finished();
  }

  async attached(which: Pick<LiveOptions, "target" | "flags">, then: () => void | Promise<void>): Promise<void> {
    await using llmprof = this.#llmprof(which);
    await llmprof.saw(/Tracing process/);
    await then();
    await this.#finish(llmprof);
  }

  /** Two lives of one target with something `between` them, and then Ctrl-C. */
  async twice(argv: readonly string[], flags: readonly string[], between: () => Promise<void>): Promise<void> {
    await using llmprof = this.#llmprof({ flags });
    await llmprof.saw("Waiting for a process that matches");
    for (const life of [1, 2]) {
      await using target = start(argv);
      await until("llmprof counts", () => llmprof.stderr().split("Tracing process").length > life);
      Deno.writeTextFileSync(this.go, "");
      await target.finished();
      await until("llmprof waits again", () => llmprof.stderr().split("Waiting for the next one").length > life);
      Deno.removeSync(this.go);
      if (life === 1) await between();
    }
    llmprof.kill("SIGINT");
    await this.#finish(llmprof);
  }

  #llmprof(which: Pick<LiveOptions, "target" | "flags">): Running {
    return startLlmprof("operators", { bpftrace: this.bpftrace, folder: this.folder, formats: ["jsonl"], ...which });
  }

  /** What there is of the trace so far. */
  written(): string {
    return Deno.readTextFileSync(outputPath(this.folder, "jsonl"));
  }

  async #finish(llmprof: Running): Promise<void> {
    const { events } = summaryOf("operators", await llmprof.finished());
    const slices = new Map<string, number>();
    for (const line of this.written().trimEnd().split("\n")) {
      const { type, category } = JSON.parse(line);
      if (type === "slice") slices.set(category, (slices.get(category) ?? 0) + 1);
    }
    const of = (category: string) => slices.get(category) ?? 0;
    const { lost, undecodable } = events;
    this.counts = { decodes: of("llama.decode"), graphs: of("ggml.graph"), operators: of("ggml.op"), lost, undecodable };
  }
}

/** The process below `root` that is the target: `unshare` and `chroot` stay above it. */
function countedIn(root: number): number {
  const names = ["counted", "linked"];
  return treeFrom(root).find(({ name }) => names.includes(name))?.pid ?? root;
}

/** Files of the plain target, in a folder of this name. */
export function plain({ folder }: Way, name = "plain") {
  return { ...copyCounted(folder.file(name)), libraries: librariesIn(folder.file(name)) };
}

/** Whether it is the plain target, and has loaded this library. */
export function countedWith({ pid, name }: ProcessRow, library: string): boolean {
  return name === "counted" && hasMapped(pid, library);
}

export function ready({ go }: Way): string[] {
  return ["say=ready", `wait=${go}`, "call"];
}

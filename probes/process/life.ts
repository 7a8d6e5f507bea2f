import type { Decoder, Event } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { ProcessEnds } from "./ends.ts";
import template from "./life.bt" with { type: "text" };
import { surroundings, SurroundingsDecoder } from "./surroundings.ts";

/** By this in its unit it is known whether a recording says so of a thread that ends. */
const GO_ON = "2^17";

/** exec, new processes and threads, exit. */
export const life: Probe = {
  name: "process/life",
  summary: "processes and threads of the target: exec, fork, exit",
  template,
  tracepoints: ["sched:sched_process_exec", "task:task_newtask", "sched:sched_process_exit"],
  records: {
    exec: [{ name: "file", type: "text" }],
    task: [{ name: "id", type: "int" }, { name: "isThread", type: "int" }],
    exit: [
      {
        name: "code",
        type: "int",
        unit: `wait status, 2^16 where the kernel killed it for want of memory, ${GO_ON} where other threads of its process go on`,
      },
      { name: "cpu", type: "int", unit: "ns of the thread" },
      { name: "before", type: "int", unit: "ns of threads that had ended" },
      { name: "name", type: "text" },
    ],
  },
  texts: { "exit.name": "name" },
  facts: [...surroundings, "names"],
  decoder: (tracks, told) => new LifeDecoder(tracks, (told?.("exit") ?? life.records.exit!)[0]!.unit?.includes(GO_ON) ?? false),
};

/** Beside a wait status. */
const STARVED = 2 ** 16, SIGKILL = 9;

class LifeDecoder implements Decoder {
  readonly #surroundings: SurroundingsDecoder;
  /** Processes whose program was seen to start. */
  readonly #started = new Set<number>();
  /** Of processes. */
  readonly #names = new Map<number, string>();
  readonly #ends = new ProcessEnds();
  /** Processes that were said to be killed for want of memory. */
  readonly #starved = new Set<number>();
  /** Bytes that the target's control groups allow, null: all there are; undefined while nobody has looked. */
  #allowed: number | null | undefined;
  /** Bytes that the target had and the machine could give, at the last look. */
  #reach = Infinity;

  /** `tellsEnds`: where a first thread has ended it is known whether its process has. */
  constructor(readonly tracks: Tracks, readonly tellsEnds: boolean) {
    this.#surroundings = new SurroundingsDecoder(tracks);
  }

  fact(fact: Fact, at: Ns, out: SpanSink): void {
    this.#surroundings.fact(fact, at, out);
    if (fact.fact === "limits") this.#allowed = fact.limits.memoryLimit;
    if (fact.fact === "memory") this.#reach = fact.memory.processes.reduce((sum, { resident }) => sum + resident, fact.memory.available);
    if (fact.fact !== "names") return;
    const { pid, name, threads } = fact;
    // By its file, where it was seen to start that.
    if (!this.#started.has(pid)) {
      this.#names.set(pid, name);
      out({ type: "name", track: this.tracks.process(pid), name, at });
    }
    for (const { tid, name } of threads) out({ type: "name", track: this.tracks.thread(pid, tid), name, at });
  }

  event(event: Event, out: SpanSink): void {
    const { at, pid, tid, stream } = event;
    const thread = this.tracks.thread(pid, tid);
    switch (event.record) {
      case "process/life.exec": {
        const file = event.values[0] as string;
        this.#ends.with(event);
        this.#started.add(pid);
        this.#names.set(pid, file);
        out({ type: "name", track: this.tracks.process(pid), name: file, at });
        return out({ type: "instant", track: thread, name: file, category: "process.exec", at, args: { file } });
      }
      case "process/life.task": {
        const [id, isThread] = event.values as number[];
        this.#starved.delete(id!);
        if (!isThread) this.#names.set(id!, this.#names.get(pid) ?? "");
        if (!isThread) return out({ type: "instant", track: thread, name: "fork", category: "process.fork", at, args: { child: id! } });
        return out({ type: "instant", track: this.tracks.thread(pid, id!), name: "start", category: "thread.start", at });
      }
      case "process/life.exit": {
        const [status, , , name] = event.values as [number, number, number, string];
        const isStarved = (status & STARVED) !== 0 && (status & 0x7f) === SIGKILL;
        // The main thread may have ended long before.
        if (isStarved && !this.#starved.has(pid)) {
          this.#starved.add(pid);
          out({
            type: "mark",
            at,
            kind: "note",
            stream,
            text: `the kernel killed ${this.#names.get(pid) || name} (${pid}): there was no memory left ${this.#where()}`,
          });
        }
        const how = { code: status >> 8 & 0xff, signal: status & 0x7f };
        const exit = { type: "instant", track: thread, name: "exit", at, ...this.#ends.with(event) && this.tellsEnds && { ended: how } } as const;
        if (tid !== pid) {
          out({ type: "name", track: thread, name, at });
          return out({ ...exit, category: "thread.exit" });
        }
        return out({ ...exit, category: "process.exit", args: { ...how, ...isStarved && { outOfMemory: true } } });
      }
    }
  }

  end(): void {}

  /** Memory may be short in a group, or everywhere: in the group, unless it allows more than the machine could give. */
  #where(): string {
    const allowed = this.#allowed;
    if (allowed === undefined) return "for it";
    return allowed === null || allowed > this.#reach
      ? "on the whole machine"
      : `of the ${(allowed / 2 ** 20).toFixed(1)} MiB that the target's control group allows`;
  }
}

import type { Decoder, Event, Field } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { Args, OffCpu, SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import { pidOf, tidOf } from "../../lib/programs/who.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { canWake, type Why, whyOf } from "./reason.ts";
import template from "./switch.bt" with { type: "text" };

const thread = { name: "thread", type: "int", unit: "subject thread" } as const;
const period = [
  { name: "left", type: "time" },
  { name: "queued", type: "int", unit: "ns from being woken to running" },
  { name: "why", type: "int", unit: "see reason.ts" },
  { name: "waker", type: "int", unit: "process and thread, 0: an interrupt, or nobody" },
  { name: "taker", type: "int", unit: "thread that took the processor" },
  { name: "cpus", type: "int", unit: "2^24 × waker's system call + 1, 2^12 × processor that it left, that on which it runs" },
] as const satisfies readonly Field[];

/** Each time that a thread of the target was not on a processor. */
export const switches: Probe = {
  name: "sched/switch",
  summary: "threads of the target: when, why and how long each is off its processor, who wakes it, who took the processor",
  template,
  tracepoints: ["sched:sched_switch", "sched:sched_waking", "sched:sched_wakeup", "task:task_newtask"],
  params: {
    // A kernel's stack has 16 KiB; the registers are its last 168, and 336 bytes.
    regs: { type: "arch", x86_64: "16384 - 168", aarch64: "16384 - 336" },
    // The segment of user code; the exception level 0.
    fromUser: { type: "arch", x86_64: "*(uint64 *)($regs + 136) == 51", aarch64: "(*(uint64 *)($regs + 264) & 15) == 0" },
    number: { type: "arch", x86_64: "*(int64 *)($regs + 120)", aarch64: "*(int32 *)($regs + 280)" },
    first: { type: "arch", x86_64: "*(uint64 *)($regs + 112)", aarch64: "*(uint64 *)($regs + 272)" },
    // read, write, pread64, pwrite64, readv, writev
    transfers: {
      type: "arch",
      x86_64: "$number == 0 || $number == 1 || ($number >= 17 && $number <= 20)",
      aarch64: "$number >= 63 && $number <= 68",
    },
    arch: { type: "arch", x86_64: "0", aarch64: "1" },
  },
  hot: true,
  widest: 7,
  records: {
    off: [thread, ...period],
    // It was so when the window was shut.
    still: [thread, ...period],
    task: [{ name: "name", type: "text" }],
    taker: [{ name: "id", type: "int" }, { name: "name", type: "text" }],
  },
  atClose: `for ($each : @left) {
    $woken = @woken[(uint64)$each.0]; $queued = (uint64)0; if ($woken > 0) { $queued = nsecs - $woken; }
    EMIT(still, $each.1.1, $each.1.0, $queued, $each.1.2, (uint64)0, $each.1.3, $each.1.4 * 4097);
  }`,
  texts: { "task.name": "name", "taker.name": "name" },
  facts: ["limits"],
  decoder: (tracks) => new SwitchDecoder(tracks),
};

class SwitchDecoder implements Decoder {
  readonly #names = new Map<number, string>();
  /** Threads of the target, by the name that was told of each. */
  readonly #told = new Map<number, string>();

  constructor(readonly tracks: Tracks) {}

  event(event: Event, out: SpanSink): void {
    const { record, at, pid, tid, values } = event;
    switch (record) {
      case "sched/switch.task":
        this.#names.set(tid, values[0] as string);
        return;
      case "sched/switch.taker":
        return void this.#names.set(values[0] as number, values[1] as string);
      case "sched/switch.off":
        return this.#off(at, pid, tid, values as number[], false, out);
      case "sched/switch.still":
        return this.#off(at, pid, tid, values as number[], true, out);
    }
  }

  fact(fact: Fact, at: Ns, out: SpanSink): void {
    if (fact.fact !== "limits") return;
    const { pid, limits } = fact;
    const args = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null)) as Args;
    out({ type: "instant", track: this.tracks.lane(pid, "control group", 3), name: "limits", category: "process.limits", at, args, limits });
  }

  end(): void {}

  #off(at: Ns, pid: number, tid: number, values: readonly number[], open: boolean, out: SpanSink): void {
    const [, left, queued, number, waker, taker, cpus] = values as [number, Ns, number, number, number, number, number];
    const why = whyOf(number);
    // Who still wanted to run has waited for nothing else.
    const isRunnable = why.reason === "preempted" || (why.reason === "new" && queued === 0);
    const queuedNs = isRunnable ? at - left : Math.min(queued, at - left);
    const from = Math.floor(cpus / 4096) % 4096, cpu = cpus % 4096;
    const wakes = waker !== 0 && canWake(why, Math.floor(cpus / 2 ** 24));
    const off: OffCpu = {
      ...why,
      queuedNs,
      waker: !wakes ? null : { pid: pidOf(waker), tid: tidOf(waker), name: this.#nameOf(tidOf(waker)) },
      taker: why.reason === "preempted" ? { tid: taker, name: this.#nameOf(taker) } : null,
      migrated: !open && from !== cpu,
    };
    const track = this.tracks.thread(pid, tid);
    const name = this.#names.get(tid);
    if (name && this.#told.get(tid) !== name) {
      this.#told.set(tid, name);
      out({ type: "name", track, name, at });
    }
    const slice = { type: "slice", track, start: left, end: at, ...(open && { open }) } as const;
    if (queuedNs > 0 && queuedNs < at - left) {
      out({ ...slice, name: "waits for a processor", category: "sched.queue", start: at - queuedNs });
    }
    out({ ...slice, name: labelOf(why), category: "sched.off", args: argsOf(off, cpu, from), off });
  }

  #nameOf(tid: number): string {
    return tid === 0 ? "idle" : this.#names.get(tid) ?? "";
  }
}

function labelOf({ reason, call }: Why): string {
  return call === undefined ? reason : `${reason} (${call})`;
}

function argsOf({ reason, call, queuedNs, waker, taker, migrated }: OffCpu, cpu: number, from: number): Args {
  return {
    reason,
    ...(call !== undefined && { call }),
    ...(queuedNs > 0 && { queuedNs }),
    ...(waker && { waker: told(waker) }),
    ...(taker && { taker: told(taker) }),
    cpu,
    ...(migrated && { from }),
  };
}

function told({ tid, name }: { readonly tid: number; readonly name: string }): string {
  return name === "" ? `thread ${tid}` : tid === 0 ? name : `${name} (${tid})`;
}

import type { Decoder, Event, Field } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { Args, OffCpu, SpanSink, Taker } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import { deviceNumber } from "../../lib/machine/device.ts";
import { pidOf, tidOf } from "../../lib/programs/who.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { callInProgress, withRegisters } from "../process/call_in_progress.ts";
import { frameRecord, Stacks, withStacks } from "../process/stack.ts";
import { canWake, isRunnable, mayRestart, whyOf } from "./reason.ts";
import template from "./switch.bt" with { type: "text" };

const thread = { name: "thread", type: "int", unit: "subject thread" } as const;
const period = [
  { name: "left", type: "time" },
  { name: "queued", type: "int", unit: "ns from being woken to running" },
  { name: "why", type: "int", unit: "see reason.ts" },
  { name: "waker", type: "int", unit: "process and thread, 0: an interrupt, or nobody" },
  { name: "taker", type: "int", unit: "thread that took the processor" },
  {
    name: "cpus",
    type: "int",
    unit: "2^24 × waker's system call + 1 (512 more: it answers for a file), 2^12 × processor that it left, that on which it runs",
  },
] as const satisfies readonly Field[];

/**
 * Where the template says so, the record of a run of short times off: how long all of it took (in 128 ns, 13 bits), queued and off of that (20 bits each), and
 * how often it was off above the processors. Of one that took longer than a millisecond these times are in units eight times as large.
 */
const run = (of: string) =>
  `$unit = (uint64)1 + 7 * (((${of}.1 - ${of}.0 >> 20) + 15) / 16); ` +
  `EMIT(run, ${of}.7, ${of}.0, ((${of}.1 - ${of}.0) / 128 / $unit << 40) + ((${of}.2 >> 23 & 8388607) / $unit << 20) + (${of}.2 & 8388607) / $unit, ` +
  `${of}.3, ${of}.4 / 1024, ${of}.5 + ($unit / 8 << 32), ((${of}.2 >> 46) * 1024 + ${of}.4 % 1024) * 16777216 + ${of}.6);`;
/** Of a thread that ends: what is kept of it in one place of `@short` is told. */
const forget = (key: string) => `$short = @short[${key}]; if ($short.1 > 0) { if ($short.2 > 0) { ${run("$short")} } delete(@short[${key}]); }`;
const FORGET_SHORT = `${forget("(uint64)tid * 2")} ${forget("(uint64)tid * 2 + 1")}`;
/** As it is told with the thread that took the processor. */
const LARGER_UNIT = 2 ** 32;

/** Their first threads. */
const TRACERS = /^(llmprof|deno|bpftrace)$/;

/** Each time that a thread of the target was not on a processor. */
export const switches: Probe = {
  name: "sched/switch",
  summary: "threads of the target: when, why and how long each is off its processor, who wakes it, who took the processor",
  template: withStacks(withRegisters(template.replaceAll("TELL_RUN($short)", () => run("$short")).replaceAll("FORGET_SHORT", () => FORGET_SHORT))),
  tracepoints: ["sched:sched_switch", "sched:sched_waking", "sched:sched_wakeup", "task:task_newtask"],
  params: {
    ...callInProgress,
    first: { type: "arch", x86_64: "*(uint64 *)($regs + 112)", aarch64: "*(uint64 *)($regs + 272)" },
    // read, write, pread64, pwrite64, readv, writev, preadv, pwritev, preadv2, pwritev2
    transfers: {
      type: "arch",
      x86_64:
        "($number >= 0 && $number <= 1) || ($number >= 17 && $number <= 20) || ($number >= 295 && $number <= 296) || ($number >= 327 && $number <= 328)",
      aarch64: "($number >= 63 && $number <= 70) || ($number >= 286 && $number <= 287)",
    },
    // sched_yield
    yields: { type: "arch", x86_64: "$number == 24", aarch64: "$number == 124" },
    // write, writev, splice
    answers: {
      type: "arch",
      x86_64: "$number == 1 || $number == 20 || $number == 275",
      aarch64: "$number == 64 || $number == 66 || $number == 76",
    },
    splices: { type: "arch", x86_64: "$number == 275", aarch64: "$number == 76" },
    third: { type: "arch", x86_64: "*(uint64 *)($regs + 96)", aarch64: "*(uint64 *)($regs + 16)" },
    // /dev/fuse
    fuse: { type: "int", value: deviceNumber(10, 229) },
    second: { type: "arch", x86_64: "*(uint64 *)($regs + 104)", aarch64: "*(uint64 *)($regs + 8)" },
    futex: { type: "arch", x86_64: "$number == 202", aarch64: "$number == 98" },
    ip: { type: "arch", x86_64: "*(uint64 *)($regs + 128)", aarch64: "*(uint64 *)($regs + 256)" },
    sp: { type: "arch", x86_64: "*(uint64 *)($regs + 152)", aarch64: "*(uint64 *)($regs + 248)" },
    fp: { type: "arch", x86_64: "*(uint64 *)($regs + 32)", aarch64: "*(uint64 *)($regs + 232)" },
    arch: { type: "arch", x86_64: "0", aarch64: "1" },
  },
  hot: true,
  deep: true,
  widest: 7,
  records: {
    off: [thread, ...period],
    // It was so when the window was shut.
    still: [thread, ...period],
    // It came back unseen, and leaves again.
    unseen: [thread, ...period, { name: "ran", type: "int", unit: "ns since it came back" }],
    // Several short times, one soon after the other.
    run: [
      thread,
      { name: "left", type: "time" },
      { name: "times", type: "int", unit: "2^40 × 128 ns from the first one's beginning to the last one's end, 2^20 × ns queued, ns off" },
      ...period.slice(2, 4),
      { name: "taker", type: "int", unit: "thread that took the processor, + 2^32 where these times are in units eight times as large" },
      { name: "cpus", type: "int", unit: "2^34 × how often, and as of a single one" },
    ],
    // With sched/stacks: how it came there, before the record of the time; and a stack that was not told before.
    at: [thread, { name: "stack", type: "int", unit: "id" }],
    frame: frameRecord,
    task: [{ name: "name", type: "text" }],
    taker: [{ name: "id", type: "int" }, { name: "name", type: "text" }],
  },
  atClose: `for ($each : @left) {
    $woken = @woken[(uint64)$each.0]; $queued = (uint64)0; if ($woken > 0) { $queued = nsecs - $woken; }
    WITH(sched/stacks) { if (@stack[(uint64)$each.0] > 0) { EMIT(at, $each.1.1, @stack[(uint64)$each.0]); } }
    EMIT(still, $each.1.1, $each.1.0, $queued, $each.1.2, (uint64)0, $each.1.3, $each.1.4 * 4097);
  }`,
  afterClose: `for ($each : @short) { if ($each.1.2 > 0) { ${run("$each.1")} } }`,
  facts: ["places", "affinity", "tracers"],
  texts: { "task.name": "name", "taker.name": "name" },
  decoder: (tracks) => new SwitchDecoder(tracks),
};

class SwitchDecoder implements Decoder {
  readonly #names = new Map<number, string>();
  /** Of threads of the target, by process and thread, the name that was told of each: their numbers are given away again. */
  readonly #told = new Map<number, string>();
  /** By process and thread: why each left its processor last, of what it may go on with by another call. */
  readonly #restarted = new Map<number, number>();
  /** Null where nobody said who they are. */
  #tracers: ReadonlySet<number> | null = null;
  #stacks = new Stacks();

  constructor(readonly tracks: Tracks) {}

  fact(fact: Fact, at: Ns, out: SpanSink): void {
    this.#stacks.fact(fact);
    if (fact.fact === "tracers") this.#tracers = new Set(fact.threads);
    if (fact.fact !== "affinity") return;
    const { pid, affinity, threads } = fact, others = threads.map(({ tid, affinity }) => `${tid}: ${affinity}`).join("; ");
    const args = { processors: affinity, ...others !== "" && { others } };
    out({ type: "instant", track: this.tracks.thread(pid, pid), name: "may run on", category: "sched.affinity", at, args, affinity: fact });
  }

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
      case "sched/switch.unseen": {
        const [, left, , , , , , ran] = values as number[];
        return this.#off(Math.max(left!, at - ran!), pid, tid, values as number[], false, out);
      }
      case "sched/switch.frame":
        return this.#stacks.frame(event);
      case "sched/switch.at":
        return this.#stacks.came(event, values[1] as number);
      case "sched/switch.run":
        return this.#run(pid, tid, values as number[], out);
    }
  }

  end(at: Ns, out: SpanSink): void {
    this.#stacks = this.#stacks.end(at, "sched.stack", this.tracks, out);
  }

  #off(at: Ns, pid: number, tid: number, values: readonly number[], open: boolean, out: SpanSink): void {
    const [thread, left, queued, ...alike] = values as [number, Ns, number, number, number, number, number];
    const stack = this.#stacks.take(tid);
    const off = { ...this.#offOf(thread, at - left, queued, alike, open), ...stack !== undefined && { stack } };
    const { queuedNs } = off;
    const track = this.tracks.thread(pid, tid);
    // A new one has told nothing yet: what is known is of who had its number.
    if (off.reason === "new") this.#names.delete(tid);
    const name = this.#names.get(tid);
    if (name && this.#told.get(thread) !== name) {
      this.#told.set(thread, name);
      out({ type: "name", track, name, at });
    }
    const slice = { type: "slice", track, start: left, end: at, ...(open && { open }) } as const;
    if (queuedNs > 0 && queuedNs < at - left) {
      out({ ...slice, name: "waits for a processor", category: "sched.queue", start: at - queuedNs });
    }
    out({ ...slice, name: labelOf(off), category: "sched.off", args: argsOf(off), off });
  }

  /** `ns`: how long it was off, all times together. */
  #offOf(thread: number, ns: Ns, queued: number, [number, waker, taker, cpus]: readonly number[], open: boolean): OffCpu {
    const why = whyOf(number!, this.#restarted.get(thread));
    if (mayRestart(number!)) this.#restarted.set(thread, number!);
    // Who still wanted to run has waited for nothing else.
    const wantsToRun = isRunnable(why.reason) || (why.reason === "new" && queued === 0);
    const from = Math.floor(cpus! / 4096) % 4096, cpu = cpus! % 4096;
    const wakes = waker !== 0 && canWake(why, Math.floor(cpus! / 2 ** 24) % 1024);
    return {
      ...why,
      queuedNs: wantsToRun ? ns : Math.min(queued, ns),
      waker: !wakes ? null : { pid: pidOf(waker!), tid: tidOf(waker!), name: this.#nameOf(tidOf(waker!)) },
      taker: why.reason === "preempted" ? this.#takerOf(taker!) : null,
      from,
      cpu,
      migrated: !open && from !== cpu,
    };
  }

  /** On a row of its own: it is told when it is over, and what it is inside of may be over by then, too. */
  #run(pid: number, tid: number, values: readonly number[], out: SpanSink): void {
    const [thread, left, packed, ...alike] = values as [number, Ns, number, number, number, number, number];
    const [number, waker, taker, cpus] = alike as [number, number, number, number];
    const unit = taker >= LARGER_UNIT ? 8 : 1;
    // What was cut off of it is half a unit, in the middle.
    const inNs = (units: number) => units === 0 ? 0 : units * unit + (unit >> 1);
    const ns = inNs(packed % 2 ** 20), queued = inNs(Math.floor(packed / 2 ** 20) % 2 ** 20);
    const span = Math.max(ns, Math.floor(packed / 2 ** 40) * 128 * unit);
    const times = Math.max(1, Math.floor(cpus / 2 ** 34));
    const off: OffCpu = {
      ...this.#offOf(thread, ns, queued, [number, waker, taker % LARGER_UNIT, cpus], false),
      run: { thread: this.tracks.thread(pid, tid), times, ns },
    };
    const track = this.tracks.lane(pid, isRunnable(off.reason) ? `short preemptions, ${tid}` : `short times off, ${tid}`, 4);
    const args = { ...argsOf(off), thread: tid, times, offNs: ns };
    out({ type: "slice", track, name: `${labelOf(off)} × ${times}`, category: "sched.offs", start: left, end: left + span, args, off });
  }

  #takerOf(tid: number): Taker {
    const name = this.#nameOf(tid);
    return { tid, name, traces: this.#tracers?.has(tid) ?? TRACERS.test(name) };
  }

  #nameOf(tid: number): string {
    return tid === 0 ? "idle" : this.#names.get(tid) ?? "";
  }
}

function labelOf({ reason, call }: Pick<OffCpu, "reason" | "call">): string {
  return call === undefined ? reason : `${reason} (${call})`;
}

function argsOf({ reason, call, queuedNs, waker, taker, cpu, from, migrated, stack }: OffCpu): Args {
  return {
    reason,
    ...(call !== undefined && { call }),
    ...(queuedNs > 0 && { queuedNs }),
    ...(waker && { waker: told(waker) }),
    ...(taker && { taker: told(taker) }),
    cpu,
    ...(migrated && { from }),
    ...(stack !== undefined && { stack }),
  };
}

function told({ tid, name }: { readonly tid: number; readonly name: string }): string {
  return name === "" ? `thread ${tid}` : tid === 0 ? name : `${name} (${tid})`;
}

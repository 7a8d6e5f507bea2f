import { quantity } from "../events/quantity.ts";
import type { Limits } from "../events/surroundings.ts";
import { counted } from "../events/text.ts";
import type { SchedResult, SchedThread } from "./sched_schema.ts";
import { numbersOf } from "../machine/numa.ts";
import { firstProcessors } from "../machine/processors.ts";
import { kernelThread } from "../target/system_names.ts";
import { atOnce } from "./at_once.ts";
import { AT_ONCE, LOCKED, THREADS } from "./engine_flags.ts";
import { processorTime } from "./figures.ts";
import { Intervals } from "./intervals.ts";
import { MOST_OTHERS, orMore } from "./others.ts";
import { ranges } from "./ranges.ts";
import type { SurroundingsResult } from "./surroundings_schema.ts";
import { type CallWait, ThreadWaits } from "./thread_waits.ts";
import { byMemory, bySwap, type Cause, heldBack, longest, slowedBy, slowedOf } from "./verdict.ts";
import { byFile, type FileWait } from "./waits_by_file.ts";

/** Threads that are busy for less of the busiest one's time wait for work, and nobody waits for them. */
const COMPUTES = 0.1;
/** Of its time: a thread that is busy for less has nothing to do. */
const IDLE = 0.01;

/** Who waits for one of these has something to do; for a lock, a condition, a message (by io_uring, too) or a moment one may wait without. */
const AT_WORK: ReadonlySet<string> = new Set(["disk", "file", "page fault", "device", "kernel"]);

/** Nanoseconds in which a thread had something to do. */
function busyNs({ onNs, queuedNs, waits }: SchedThread): number {
  return waits.reduce((sum, { reason, ns }) => AT_WORK.has(reason) ? sum + ns : sum, onNs + queuedNs);
}

/** No thread has anything to do for long, and all together have not. `ns`: for so long they were watched. */
export function isIdle(threads: readonly SchedThread[], ns: number): boolean {
  const all = threads.reduce((sum, thread) => sum + busyNs(thread), 0);
  return all <= IDLE * ns || !threads.some((thread) => busyNs(thread) > IDLE * thread.seenNs);
}

/** What a person can do about a wait. */
const ADVICE: Readonly<Record<string, string>> = {
  disk:
    `Read less from the disk, or from who answers for the file (a network, a program; io tells): keep the model in memory (more memory; ${LOCKED}),` +
    " or put it on a faster device.",
  file:
    "Who answers for it, over a network or in a program (NFS, Lustre, FUSE), is late, others have it locked, or the kernel has too little memory for it: " +
    "fewer bytes, or a copy on a disk of this machine.",
  "page fault": `Weights are read when they are touched: ${AT_ONCE} reads them at once, where memory is enough, and more memory keeps them.`,
  lock: `Threads wait for each other: fewer of them (${THREADS}), or less work under the lock; --stacks says where they wait for it.`,
  condition:
    "It waits until others have something for it, or have ended: work, a semaphore, Python's lock. What those wait for is in this table, too; " +
    "--stacks says where it waits.",
  network: "The other side answers late, or asks for nothing.",
  events: "It waits for something to do: clients, timers or other threads.",
  io_uring: "What it asked for, of files or of others, is not seen here: where io shows disks that read for it, read less or from a faster one.",
  pipe: "The process at the other end of the pipe is slower.",
  sleep: "The program asked to sleep.",
  children: "It waits for a process that it started: what that one waits for, in this table too, says why.",
  device: "A device's driver answers late.",
  kernel: "Threads wait for one another inside the kernel, as when many map memory at once: fewer threads, or larger allocations.",
  stopped: "Somebody stopped it (SIGSTOP), or debugs it.",
};

/** A thread, by which system calls it waited, and when it was watched. */
export interface Watched {
  readonly thread: SchedThread;
  readonly waits: ThreadWaits;
  readonly lives: Intervals;
}

/** The machine, as far as it explains waits. */
export interface MachineUse {
  readonly cpus: number | null;
  /** Numbers of the processors; null in recordings that do not say them. */
  readonly online: readonly number[] | null;
  /** Nanoseconds for which all threads of the target ran, by processor. */
  readonly onByCpu: ReadonlyMap<number, number>;
  /** Names of disks by their numbers, `7:0`. */
  readonly disks: ReadonlyMap<string, string>;
}

/** What threads that compute wait for most, with what shows it and what to try. */
export function schedVerdict(
  watched: readonly Watched[],
  takers: SchedResult["takers"],
  surroundings: Pick<SurroundingsResult, "memory" | "limits">,
  { cpus, online, onByCpu, disks }: MachineUse,
  inFiles: readonly FileWait[] = [],
): SchedResult["verdict"] {
  const threads = watched.map(({ thread }) => thread);
  const busiest = threads.reduce((most, thread) => Math.max(most, busyNs(thread)), 0);
  const computing = watched.filter(({ thread }) => busyNs(thread) > IDLE * thread.seenNs && busyNs(thread) >= COMPUTES * busiest);
  const waits = new ThreadWaits(MOST_OTHERS);
  for (const thread of computing) waits.addAll(thread.waits);
  const seen = computing.reduce((sum, { thread }) => sum + thread.seenNs, 0);
  const queued = computing.reduce((sum, { thread }) => sum + thread.queuedNs, 0);
  const { limits } = surroundings;
  const slowed = slowedOf(limits?.reads ?? [], (device) => disks.get(device) ?? device);
  const yieldedNs = computing.reduce((sum, { thread }) => sum + thread.yieldedNs, 0);
  const yields = yieldedNs > YIELDED * queued ? computing.reduce((sum, { thread }) => sum + thread.yielded, 0) : 0;
  const own = new Set(threads.map(({ tid }) => tid));
  // What traces is gone when nobody traces; the kernel's threads that work for whoever uses the processor nobody can send away.
  const taker = yields > 0
    ? undefined
    : takers.find(({ tid, name, traces }) => tid !== 0 && !own.has(tid) && kernelThread(name) === undefined && !traces);
  const crowd: Crowd = {
    threads: atOnce(computing.map(({ lives }) => lives)),
    narrow: narrowOf(computing, cpus, online && new Set(online)),
    processes: processesOf(computing),
    cpus,
    online: online ?? firstProcessors(cpus ?? 0),
    places: placesOf(onByCpu),
    yields,
    taker,
  };
  const faults = threads.flatMap(({ waits }) => waits).reduce((sum, { reason, times }) => reason === "page fault" ? sum + times : sum, 0);
  const swap = bySwap(surroundings, SWAPPED * faults);
  const verdicts = waits.result().map(({ reason, ns, calls: [most] }) => {
    const shown = evidenceOf(most!);
    if (reason === "page fault" && swap) return { wait: "swap", ns, ...swap, evidence: `${shown}; ${swap.evidence}` };
    const inFile = byFile(reason, most!.call, inFiles);
    if (inFile) return { wait: reason, ns, ...inFile };
    const own = { evidence: shown, advice: ADVICE[reason] ?? "" };
    if (reason === "kernel" || reason === "file") return { wait: reason, ns, ...slowedBy(heldBack(limits), own) };
    const cause = reason === "page fault" || reason === "disk" ? slowedBy(slowed, byMemory(limits, own)) : own;
    return { wait: reason, ns, ...cause };
  });
  // What its own limit takes is no neighbour's fault.
  const isThrottled = limits !== null && limits.throttledNs > THROTTLED * queued && limits.throttled > 0;
  verdicts.push({
    wait: "processor",
    ns: queued,
    ...isThrottled ? throttledBy(limits) : { evidence: crowdOf(crowd), advice: crowdAdvice(crowd) },
  });
  return longest(verdicts, seen);
}

/** Of page faults that waited: where fewer pages came back from swap, though one brings its neighbours along, most waited for something else. */
const SWAPPED = 0.5;

/** Of the time for which threads were queued. */
const THROTTLED = 0.25, YIELDED = 0.5;

function throttledBy({ cpus, throttled, throttledNs }: Limits): Cause {
  return {
    evidence: `its control group allows ${processorTime(cpus)}, and it stood still ${throttled} times until the next period, ${
      quantity(throttledNs, "ns")
    } of processors' time`,
    advice: "Raise that limit (cpu.max, --cpus of a container), or compute with fewer threads.",
  };
}

/** By the system call in which these threads waited most. */
function evidenceOf({ times, call, wakers }: CallWait): string {
  const [waker] = wakers.result();
  return `${counted(times, "time")}${call === null ? "" : ` in ${call}`}${waker ? `, woken most by ${waker.name || "thread"} (${waker.tid})` : ""}`;
}

/** Of their time on processors: a thread that starts passes through others. */
const PASSES = 0.01;

/** Threads that may run on these processors alone: so many at once, and whether they are all that compute. */
interface Narrow {
  readonly threads: number;
  readonly all: boolean;
  readonly places: readonly number[];
}

/** Who wants processors. */
interface Crowd {
  /** That compute, at once. */
  readonly threads: number;
  /** Of these, those that may not run on all. */
  readonly narrow: Narrow | null;
  /** Of so many processes, at once. */
  readonly processes: number;
  readonly cpus: number | null;
  readonly online: readonly number[];
  /** Processors on which they ran. */
  readonly places: readonly number[];
  /** Times that they gave their processor to others themselves, where that is most of why they are queued. */
  readonly yields: number;
  /** Somebody else, who took a processor most. */
  readonly taker: SchedResult["takers"][number] | undefined;
}

function placesOf(onByCpu: ReadonlyMap<number, number>): number[] {
  const all = [...onByCpu.values()].reduce((sum, ns) => sum + ns, 0);
  return [...onByCpu].filter(([, ns]) => ns >= PASSES * all).map(([cpu]) => cpu).sort((a, b) => a - b);
}

/** Of how many processes these are, at once. */
function processesOf(threads: readonly Watched[]): number {
  const processes = Map.groupBy(threads, ({ thread }) => thread.pid);
  return atOnce([...processes.values()].map((threads) => {
    const any = new Intervals();
    for (const { lives } of threads) any.addAll(lives);
    return any;
  }));
}

/**
 * Those processors of which the most threads want each, where more threads may run there alone than there are of them, and the machine has others. (One that
 * may run elsewhere, and did not, was not kept from it.)
 */
function narrowOf(computing: readonly Watched[], cpus: number | null, online: ReadonlySet<number> | null): Narrow | null {
  const groups = [...Map.groupBy(computing, ({ thread }) => thread.affinity)].flatMap(([affinity, threads]) =>
    affinity === null ? [] : [{ allowed: usable(affinity, online), threads }]
  );
  const narrow = groups.flatMap(({ allowed }): Narrow[] => {
    if (cpus === null || allowed.size === 0 || allowed.size >= cpus) return [];
    const kept = groups.filter((other) => other.allowed.isSubsetOf(allowed)).flatMap(({ threads }) => threads);
    const threads = atOnce(kept.map(({ lives }) => lives));
    return threads > allowed.size ? [{ threads, all: kept.length === computing.length, places: [...allowed] }] : [];
  });
  const crowded = ({ threads, places }: Narrow) => threads / places.length;
  return narrow.reduce<Narrow | null>((most, one) => most && crowded(most) >= crowded(one) ? most : one, null);
}

/** Those that are switched off stay in a thread's list. */
function usable(affinity: string, online: ReadonlySet<number> | null): Set<number> {
  const allowed = new Set(numbersOf(affinity));
  return online ? allowed.intersection(online) : allowed;
}

function numbered(places: readonly number[]): string {
  return `${places.length === 1 ? "processor" : "processors"} ${ranges(places).join(", ")}`;
}

function crowdOf(crowd: Crowd): string {
  const { threads, narrow, cpus, yields, taker } = crowd;
  const compute = `${threads} ${threads === 1 ? "thread computes" : "threads compute"}`;
  const room = cpus === null ? compute : `${compute}, the machine has ${counted(cpus, "processor")}`;
  const pinned = narrow ? `, and ${narrow.all ? "they" : `${narrow.threads} of them`} may run on ${numbered(narrow.places)} alone` : "";
  const given = yields > 0 ? `; they gave theirs to others ${counted(yields, "time")} (sched_yield)` : "";
  return `${room}${pinned}${given}${
    taker ? `; ${taker.name || "thread"} (${taker.tid}) took one ${counted(taker.times, "time")}${orMore(taker)}` : ""
  }`;
}

function crowdAdvice(crowd: Crowd): string {
  const { threads, narrow, processes, cpus, online, places, yields, taker } = crowd;
  const most = (threads: number) => processes === 1 ? `${threads} (${THREADS})` : `${threads} in its ${processes} processes together`;
  if (narrow) {
    const fewer = narrow.all ? `, or fewer threads: ${most(narrow.places.length)}` : "";
    return `Let them use more processors (taskset -p, the cpuset of a container)${fewer}.`;
  }
  if (cpus !== null && threads > cpus) return `Fewer threads: ${most(cpus)}.`;
  // As OpenBLAS and OpenMP wait for one another.
  if (yields > 0) return "Fewer threads, or let them sleep while they wait (OMP_WAIT_POLICY=passive).";
  if (!taker) return "Leave processors to it alone: taskset, or a cpuset.";
  const who = taker.name || "the other", lower = `a lower priority (renice 19 ${taker.tid})`;
  const others = online.filter((cpu) => !places.includes(cpu));
  if (others.length === 0) return `Give ${who} ${lower}, or each of them processors of its own (taskset, a cpuset).`;
  const elsewhere = `taskset -pc ${ranges(others).join(",").replaceAll("–", "-")} ${taker.tid}`;
  return `Keep ${who} away from ${numbered(places)} (${elsewhere}, or a cpuset), or give it ${lower}.`;
}

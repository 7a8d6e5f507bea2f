import { quantity } from "../events/quantity.ts";
import type { Facts, Note, Table, View } from "../events/view.ts";
import { tableOf } from "./figures_table.ts";
import { firstFrames } from "./frames.ts";
import { numaNotes, presentNuma } from "./numa_present.ts";
import { orMore } from "./others.ts";
import { info, qualityNotes, turnsNotes, warning } from "./quality.ts";
import { isIdle } from "./sched_verdict.ts";
import type { SchedResult } from "./sched_schema.ts";
import { limitNotes, presentSurroundings, stolenNotes } from "./surroundings_present.ts";
import { presentSystemCalls } from "./system_calls_present.ts";
import { threadName } from "./thread_name.ts";

const MAX_THREADS = 16, MAX_WAITS = 15, MAX_STACKS = 12;

/** What is waited for first, then thread by thread. */
export function presentSched(result: SchedResult): readonly View[] {
  const views: View[] = [...notes(result), totals(result)];
  if (result.threads.length > 0) views.push(...verdict(result), threads(result), waits(result));
  if (result.takers.length > 0) views.push(takers(result));
  if (result.numa) views.push(presentNuma(result.numa));
  if (result.stacks) views.push(...stacks(result.stacks));
  views.push(...presentSurroundings(result));
  if (result.systemCalls) views.push(...presentSystemCalls(result.systemCalls));
  return views;
}

function notes(result: SchedResult): Note[] {
  const { threads, quality, windows } = result;
  const notes = [
    ...qualityNotes(quality, "a thread whose switch was lost seems to have run while it waited"),
    ...limitNotes(result),
    ...stolenNotes(result),
    ...numaNotes(result.numa),
  ];
  if (threads.length === 0) notes.push(warning("No thread left its processor or came to one while it was watched."));
  notes.push(...turnsNotes(windows));
  return notes;
}

function totals({ windows, threads, totals, numa }: SchedResult): Facts {
  const { onNs, queuedNs, voluntary, involuntary, yielded, migrations } = totals;
  const switches = voluntary + involuntary;
  return {
    type: "facts",
    title: "Scheduling",
    facts: [
      { name: "watched", value: windows.ns, unit: "ns" },
      { name: "threads", value: threads.length, unit: "count" },
      { name: "on a processor", value: onNs, unit: "ns", note: windows.ns > 0 ? `${(onNs / windows.ns).toFixed(2)} processors on average` : "" },
      { name: "waiting for one", value: queuedNs, unit: "ns", note: "ready to run" },
      { name: "p50 each time", value: totals.queue.p50Ns, unit: "ns" },
      { name: "p99 each time", value: totals.queue.p99Ns, unit: "ns" },
      {
        name: "switches",
        value: switches,
        unit: "count",
        note: `${involuntary - yielded} against its will${yielded > 0 ? `, ${yielded} yielded` : ""}`,
      },
      { name: "migrations", value: migrations, unit: "count", ...numa && { note: `${numa.migrations} of them to another node` } },
    ],
  };
}

function verdict({ verdict, threads, windows }: SchedResult): Note[] {
  if (isIdle(threads, windows.ns)) return [info("It is idle: no thread has anything to do for a hundredth of its time.")];
  if (verdict.length === 0) return [info("Nothing waits: threads that compute are on a processor for 99 % of their time.")];
  return verdict.map(({ wait, share, ns, evidence, advice }) => {
    const time = `${(share * 100).toFixed(1)} % of the time of threads that compute, ${quantity(ns, "ns")}`;
    return info(`Waits for ${NAMES[wait] ?? wait}: ${time}${evidence === "" ? "" : `, ${evidence}`}. ${advice}`.trimEnd());
  });
}

/** As a sentence says it. */
const NAMES: Readonly<Record<string, string>> = {
  processor: "a processor",
  disk: "the disk",
  file: "files",
  "page fault": "page faults",
  swap: "memory that comes back from swap",
  lock: "other threads",
  condition: "something from other threads",
  network: "the network",
  events: "events",
  io_uring: "io_uring",
  pipe: "a pipe",
  sleep: "its own sleep",
  children: "children",
  device: "a device",
  kernel: "the kernel's locks",
  stopped: "a signal to go on",
};

function threads({ threads }: SchedResult): Table {
  return tableOf("Threads", threads, [
    [{ title: "thread", unit: "text" }, threadName],
    [{ title: "on a processor", unit: "ns" }, (row) => row.onNs],
    [{ title: "on", unit: "ratio" }, (row) => row.seenNs > 0 ? row.onNs / row.seenNs : null],
    [{ title: "queued", unit: "ns" }, (row) => row.queuedNs],
    [{ title: "waits most for", unit: "text" }, (row) => row.waits[0]?.reason ?? null],
    [{ title: "waiting", unit: "ns" }, (row) => row.waits.reduce((sum, { ns }) => sum + ns, 0)],
    [{ title: "switches", unit: "count" }, (row) => row.voluntary + row.involuntary],
    [{ title: "forced", unit: "count" }, (row) => row.involuntary - row.yielded],
    [{ title: "migrations", unit: "count" }, (row) => row.migrations],
  ], MAX_THREADS);
}

function waits({ waits }: SchedResult): Table {
  return tableOf("Off a processor, by reason", waits, [
    [{ title: "reason", unit: "text" }, (row) => row.reason],
    [{ title: "in", unit: "text" }, (row) => row.call],
    [{ title: "times", unit: "count" }, (row) => row.times],
    [{ title: "total", unit: "ns" }, (row) => row.totalNs],
    [{ title: "queued", unit: "ns" }, (row) => row.queuedNs],
    [{ title: "p50", unit: "ns" }, (row) => row.p50Ns],
    [{ title: "p99", unit: "ns" }, (row) => row.p99Ns],
    [{ title: "max", unit: "ns" }, (row) => row.maxNs],
    [
      { title: "woken most by", unit: "text" },
      ({ wakers: [waker] }) => waker ? `${waker.name} (${waker.tid}) ×${waker.times}${orMore(waker)}` : null,
    ],
  ], MAX_WAITS);
}

/** And how much of the time is known by more than the function that waits. */
function stacks(stacks: NonNullable<SchedResult["stacks"]>): View[] {
  if (stacks.length === 0) return [];
  const known = stacks.reduce((sum, { frames, ns }) => sum + (frames.length > 1 ? ns : 0), 0), all = stacks.reduce((sum, { ns }) => sum + ns, 0);
  const table = tableOf("Where threads leave their processor", stacks, [
    [{ title: "total", unit: "ns" }, (row) => row.ns],
    [{ title: "times", unit: "count" }, (row) => row.times],
    [{ title: "reason", unit: "text" }, ({ reason, call }) => call === null ? reason : `${reason} (${call})`],
    [{ title: "in, called by", unit: "text", below: true }, ({ frames }) => frames.length === 0 ? null : firstFrames(frames)],
  ], MAX_STACKS);
  const text = `Callers are known for ${
    (100 * known / all).toFixed(0)
  } % of that time: most libraries are compiled without frame pointers (Fedora and Ubuntu from 24.04 on keep them, as -fno-omit-frame-pointer does).`;
  return known < 0.5 * all ? [table, info(text)] : [table];
}

function takers({ takers }: SchedResult): Table {
  return tableOf("Who took a processor from it", takers, [
    [{ title: "thread", unit: "text" }, ({ name, tid }) => `${name} (${tid})`],
    [{ title: "times", unit: "count" }, (row) => row.times],
    [{ title: "then off for", unit: "ns" }, (row) => row.ns],
    takers.some(orMore) && [{ title: "", unit: "text" }, (row) => orMore(row).trim()],
  ]);
}

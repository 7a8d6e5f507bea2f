import type { Activity } from "./activity.ts";
import { continues, type Gap, group, join } from "./join.ts";

/** How many activities of a thread may still grow: a thread that alternates between files finds each again. */
const RECENT = 8;
/** Starting an interpreter reads thousands of small files: shorter than this, and close together, they become one phase. */
const SHORT_NS = 1e6;
const GROUP_GAP_NS = 0.5e6;
const GROUPED = new Set(["read", "library", "code fault", "map"]);
/** Beyond this many, neighbours are put together whatever the pause between them. */
const MAX_ACTIVITIES = 4096;

interface Thread {
  /** The one that grew last is at the end. */
  readonly recent: Activity[];
  /** By family: the last that left `recent`. */
  readonly settled: Map<string, Activity>;
}

/**
 * Puts activities together as they arrive, so that 100,000 reads of a model are one. They may come late (a stretch of faults is reported when
 * the thread's next one begins, or at the end), so {@link ActivityLog.activities} goes over the few that are left again, in order of time.
 */
export class ActivityLog {
  readonly #threads = new Map<string, Thread>();
  #settled: Activity[] = [];
  coarse = false;

  constructor(readonly gap: Gap, readonly max = MAX_ACTIVITIES) {}

  add(activity: Activity): void {
    const key = `${activity.pid}/${activity.tid}`;
    let thread = this.#threads.get(key);
    if (!thread) this.#threads.set(key, thread = { recent: [], settled: new Map() });
    const { recent } = thread;
    for (let i = recent.length - 1; i >= 0; i--) {
      const candidate = recent[i]!;
      if (!continues(candidate, activity, this.gap, recent)) continue;
      join(candidate, activity);
      recent.splice(i, 1);
      recent.push(candidate);
      return;
    }
    recent.push(activity);
    if (recent.length > RECENT) this.#settle(thread, recent.shift()!);
  }

  /** In order of their beginning. Ends the log. */
  activities(): readonly Activity[] {
    const again = new ActivityLog(this.gap, Infinity);
    for (const activity of this.#all().sort(byStart)) again.add(activity);
    return again.#all().sort(byStart);
  }

  #all(): Activity[] {
    for (const thread of this.#threads.values()) for (const activity of thread.recent.splice(0)) this.#settle(thread, activity);
    return this.#settled;
  }

  #settle(thread: Thread, activity: Activity): void {
    const before = thread.settled.get(activity.family);
    if (before && isShort(before) && isShort(activity) && this.gap(before, activity) <= GROUP_GAP_NS && activity.start >= before.start) {
      return group(before, activity);
    }
    if (GROUPED.has(activity.family)) thread.settled.set(activity.family, activity);
    this.#settled.push(activity);
    if (this.#settled.length > this.max) this.#compact();
  }

  /** Doubles the pause over which neighbours are put together until half the room is free; at the end, over threads too. */
  #compact(): void {
    this.coarse = true;
    for (let gap = 2 * SHORT_NS; this.#settled.length > this.max / 2; gap *= 2) {
      this.#settled = coarser(this.#settled, gap < 1e12 ? (a) => `${a.pid}/${a.tid}/${a.family}` : (a) => a.family, gap);
    }
    for (const thread of this.#threads.values()) thread.settled.clear();
  }
}

function isShort(activity: Activity): boolean {
  return GROUPED.has(activity.family) && (activity.files > 1 || activity.end - activity.start < SHORT_NS);
}

function coarser(activities: Activity[], key: (activity: Activity) => string, gap: number): Activity[] {
  const last = new Map<string, Activity>();
  const kept: Activity[] = [];
  for (const activity of activities.sort(byStart)) {
    const before = last.get(key(activity));
    if (before && activity.start - before.end <= gap) group(before, activity);
    else {
      last.set(key(activity), activity);
      kept.push(activity);
    }
  }
  return kept;
}

function byStart(a: Activity, b: Activity): number {
  return a.start - b.start || b.end - a.end;
}

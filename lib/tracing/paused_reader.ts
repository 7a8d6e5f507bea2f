import { Ending } from "../machine/ending.ts";

/** What the rhythm controls and observes. Times are CLOCK_BOOTTIME in nanoseconds, on the scale of {@link Rhythm.now}. */
export interface PausableReader {
  pause(): void;
  resume(): void;
  /** Bytes that it has delivered so far. */
  delivered(): number;
  /** Time of the last heartbeat that it has delivered; NaN before the first. */
  lastBeat(): number;
  /** Resolves when it has delivered a line of this time or a later one. */
  reached(at: number): Promise<void>;
}

export interface Rhythm {
  now(): number;
  sleep(milliseconds: number): Promise<void>;
  /** Bytes of the buffer between kernel and reader. */
  readonly bufferBytes: number;
  /** Milliseconds from one heartbeat of the program to the next. */
  readonly beatMs: number;
  /** When something may have happened that somebody waits for: a pause does not go beyond it by more than a heartbeat. */
  due(): number;
}

const LONGEST_PAUSE_MS = 1000;
const SHORTEST_PAUSE_MS = 20;
/** Of the buffer, at the rate last seen. A record takes up to twice as many bytes there as its line has characters. */
const FILL = 0.4;
/** Of the buffer, if records begin to come at 300,000 a second of 64 bytes while it is paused. */
const BURST_FILL = 0.95, BURST_BYTES_PER_MS = 300 * 64;
/** A heartbeat is in the buffer so long after its time at the latest. */
const SETTLED_MS = 4;
/** Behind by no more than what a pipe holds, it has caught up. */
const BACKLOG_BYTES = 64 * 1024;

/**
 * Keeps the reader of a ring buffer stopped for most of the time. What makes an event dear to the traced thread is waking a reader that has
 * caught up; a stopped one lets events pile up for the bare cost of writing them. So: pause for as long as the buffer lasts, let it run until it has caught up, and not a moment longer. It is
 * resumed just behind a heartbeat, because bpftrace hands on what it has read with a heartbeat: when that one comes through, so has everything before. Leaves
 * the reader running, at once when `signal` aborts.
 */
export async function pauseReader(reader: PausableReader, rhythm: Rhythm, signal: AbortSignal): Promise<void> {
  const end = new Ending(new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true })));
  const burst = BURST_FILL * rhythm.bufferBytes / BURST_BYTES_PER_MS;
  let pause = SHORTEST_PAUSE_MS;
  let last = look(reader, rhythm);
  while (!signal.aborted) {
    reader.pause();
    const stopped = rhythm.now();
    pause = Math.min(pause, Math.max(rhythm.beatMs, (rhythm.due() - stopped) / 1e6));
    const beat = lastBeatUntil(stopped + pause * 1e6, stopped, reader.lastBeat(), rhythm.beatMs * 1e6);
    const resumeAt = beat === undefined ? stopped + pause * 1e6 : beat + SETTLED_MS * 1e6;
    await end.or(rhythm.sleep((resumeAt - stopped) / 1e6));
    reader.resume();
    if (signal.aborted) return;
    // A little before the heartbeat: timers are not exact.
    await caughtUp(reader, rhythm, beat === undefined ? rhythm.now() : beat - SETTLED_MS * 1e6 / 2, last, end);
    const now = look(reader, rhythm);
    const bytesPerMs = rate(last, now);
    last = now;
    // Doubling at most: a burst in the last pause may be only the beginning.
    pause = Math.max(SHORTEST_PAUSE_MS, Math.min(LONGEST_PAUSE_MS, burst, FILL * rhythm.bufferBytes / bytesPerMs, pause * 2));
  }
}

/** Waits until what happened by `until` has been read, and what came while it was read, as long as that is much. */
async function caughtUp(reader: PausableReader, rhythm: Rhythm, until: number, last: Look, end: Ending): Promise<void> {
  while (!end.isHere) {
    await end.or(reader.reached(until));
    const now = look(reader, rhythm);
    // By the rate of this moment: the one of before may have been a hundred times higher, and then the next line is a long time off.
    if ((now.at - until) / 1e6 * rate(last, now) < BACKLOG_BYTES) return;
    last = now;
    until = now.at;
  }
}

interface Look {
  readonly at: number;
  readonly delivered: number;
}

function look(reader: PausableReader, rhythm: Rhythm): Look {
  return { at: rhythm.now(), delivered: reader.delivered() };
}

/** Bytes in a millisecond. */
function rate(from: Look, to: Look): number {
  return (to.delivered - from.delivered) / Math.max((to.at - from.at) / 1e6, 1);
}

/** The last moment in (now, until] at which a heartbeat is due; undefined when there is none. */
function lastBeatUntil(until: number, now: number, known: number, every: number): number | undefined {
  const last = known + Math.floor((until - known) / every) * every;
  return last > now ? last : undefined;
}

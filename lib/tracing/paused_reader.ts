/** What the rhythm controls and observes. */
export interface PausableReader {
  pause(): void;
  resume(): void;
  /** Bytes that it has delivered so far. */
  delivered(): number;
  /** CLOCK_BOOTTIME in nanoseconds of the last event that it has delivered; NaN before the first. */
  lastEvent(): number;
}

export interface Rhythm {
  /** CLOCK_BOOTTIME in nanoseconds, on the scale of {@link PausableReader.lastEvent}. */
  now(): number;
  sleep(milliseconds: number): Promise<void>;
  /** Bytes of the buffer between kernel and reader. */
  readonly bufferBytes: number;
}

const LONGEST_PAUSE_MS = 1000;
const SHORTEST_PAUSE_MS = 20;
/** A reader with nothing to read is not kept awake longer than this. */
const LONGEST_RUN_MS = 60;
/** A record takes about as many bytes in the buffer as its line has characters. */
const FILL = 0.5;

/**
 * Keeps the reader of a ring buffer stopped for most of the time. What makes an event dear to the traced thread is waking a reader that has caught up; a stopped one lets events pile up for the bare
 * cost of writing them. So: pause until the buffer may be half full by the rate last seen, run until it has read something that happened after it was resumed, pause again. Leaves the reader running.
 */
export async function pauseReader(reader: PausableReader, rhythm: Rhythm, signal: AbortSignal): Promise<void> {
  let pause = SHORTEST_PAUSE_MS;
  while (!signal.aborted) {
    const before = reader.delivered();
    const began = rhythm.now();
    reader.pause();
    await rhythm.sleep(pause);
    reader.resume();
    const resumed = rhythm.now();
    while (!signal.aborted && !(reader.lastEvent() >= resumed) && rhythm.now() - resumed < LONGEST_RUN_MS * 1e6) await rhythm.sleep(2);
    const bytesPerMs = (reader.delivered() - before) / ((rhythm.now() - began) / 1e6);
    const wanted = bytesPerMs > 0 ? FILL * rhythm.bufferBytes / bytesPerMs : LONGEST_PAUSE_MS;
    // Doubling at most: a burst in the last pause may be only the beginning.
    pause = Math.max(SHORTEST_PAUSE_MS, Math.min(LONGEST_PAUSE_MS, wanted, pause * 2));
  }
}

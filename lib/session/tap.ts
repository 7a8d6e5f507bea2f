import type { StreamWriter } from "../timeline/recording.ts";
import type { StreamInput } from "../timeline/timeline.ts";
import { WaitingBuffer } from "./waiting_buffer.ts";

/** How long events are kept while llmprof waits for a target. */
const HOLD_MS = 120_000;

/**
 * Where a stream's bytes go: first kept, because the timeline needs the first program's clock, and where llmprof waits for a target, the
 * target; then to the recording and the timeline.
 */
export class Tap {
  #waiting: WaitingBuffer | null;
  #input: StreamInput | null = null;
  #writer: StreamWriter | null = null;
  #closed = false;
  /** Bytes, until now. */
  delivered = 0;
  /** It passes on what was kept. */
  catchesUp = false;
  /** Sees the bytes while they are kept. */
  whileWaiting: ((bytes: Uint8Array) => void) | undefined;

  constructor(now: () => number) {
    this.#waiting = new WaitingBuffer(HOLD_MS, now);
  }

  write(bytes: Uint8Array): void {
    if (this.#closed) return;
    this.delivered += bytes.length;
    if (!this.#waiting) return this.#pass(bytes);
    this.#waiting.push(bytes);
    this.whileWaiting?.(bytes);
  }

  get closed(): boolean {
    return this.#closed;
  }

  get connected(): boolean {
    return this.#waiting === null;
  }

  /** Passes on what was kept; returns how many events were not. */
  connect(input: StreamInput, writer: StreamWriter | null): number {
    this.#input = input;
    this.#writer = writer;
    const waiting = this.#waiting!;
    this.#waiting = null;
    this.catchesUp = true;
    for (const bytes of waiting.take()) this.#pass(bytes);
    this.catchesUp = false;
    // Its program has ended already: a stream that stayed open would hold the others back.
    if (this.#closed) this.#end();
    return waiting.discarded;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#end();
  }

  #end(): void {
    this.#input?.close();
    this.#writer?.close();
  }

  /** The recording first: what the timeline makes of a line can be made again, the line cannot. */
  #pass(bytes: Uint8Array): void {
    this.#writer?.write(bytes);
    this.#input?.write(bytes);
  }
}

import type { Event } from "../events/event.ts";
import type { Ns } from "../events/time.ts";

/** More than come between two heartbeats at a hundred thousand a second. */
const MOST = 16_384;

/** An event of one number that is filled again and again. */
class SpareEvent implements Event {
  readonly values: [number];

  constructor(public at: Ns, public stream: string, public record: string, public pid: number, public tid: number, value: number) {
    this.values = [value];
  }
}

/**
 * Events of one number, to be filled again when all have seen them: most of what comes is such, and an object for each of them, kept until it is merged,
 * was a tenth of a replay. `isPassing`: of such a record nobody keeps an event.
 */
export class SpareEvents {
  readonly #spare: SpareEvent[] = [];

  constructor(readonly isPassing: (record: string) => boolean) {}

  take(at: Ns, stream: string, record: string, pid: number, tid: number, value: number): Event {
    const event = this.#spare.pop();
    if (event === undefined) return new SpareEvent(at, stream, record, pid, tid, value);
    event.at = at;
    event.stream = stream;
    event.record = record;
    event.pid = pid;
    event.tid = tid;
    event.values[0] = value;
    return event;
  }

  /** All have seen it. */
  give(event: Event): void {
    if (event instanceof SpareEvent && this.#spare.length < MOST) this.#spare.push(event);
  }
}

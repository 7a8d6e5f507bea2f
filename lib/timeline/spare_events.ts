import type { Event } from "../events/event.ts";
import type { Ns } from "../events/time.ts";

/** More than come between two heartbeats at a hundred thousand a second. */
const MOST = 16_384;

/** An event of numbers alone that is filled again and again. */
export class SpareEvent implements Event {
  at: Ns = NaN;
  stream = "";
  record = "";
  pid = 0;
  tid = 0;
  readonly values: number[];

  constructor(numbers: number) {
    this.values = new Array(numbers);
  }

  /** `values` are filled by whoever took it. */
  as(at: Ns, stream: string, record: string, pid: number, tid: number): Event {
    this.at = at;
    this.stream = stream;
    this.record = record;
    this.pid = pid;
    this.tid = tid;
    return this;
  }
}

/**
 * Events of numbers, to be filled again when all have seen them: most of what comes is such, and an object for each of them, kept until it is merged,
 * was a tenth of a replay. `isPassing`: of such a record nobody keeps an event.
 */
export class SpareEvents {
  /** By how many numbers they have. */
  readonly #spare: SpareEvent[][] = [];

  constructor(readonly isPassing: (record: string) => boolean) {}

  take(numbers: number): SpareEvent {
    return this.#spare[numbers]?.pop() ?? new SpareEvent(numbers);
  }

  /** All have seen it. */
  give(event: Event): void {
    if (!(event instanceof SpareEvent)) return;
    const spare = this.#spare[event.values.length] ??= [];
    if (spare.length < MOST) spare.push(event);
  }
}

import type { Ns } from "../../lib/events/time.ts";
import { isSame, type Place } from "./devices.ts";
import { defaultStream, type Stream } from "./streams.ts";

/** When a stream was given something, or an event was recorded in it. */
export interface Moment {
  readonly stream: Stream;
  readonly place: Place;
  readonly began: Ns;
  /** The stream and the default stream of its place wait for each other. */
  readonly isBlocking: boolean;
}

/** What a stream was given last; `at`: the call's end. */
interface Given extends Moment {
  readonly at: Ns;
}

/**
 * What the streams of a process were given and nobody has waited for. CUDA's default stream begins what it is given behind all that the blocking streams of its
 * context were given before, and they what they are given later behind that: whoever has waited for one has waited for the others as far as it had to.
 */
export class GivenWork {
  readonly #busy = new Map<Stream, Given>();
  /** Streams that were seen to be made so. */
  readonly #blocking = new Set<Stream>();
  #destroyed = 0;

  get isNone(): boolean {
    return this.#busy.size === 0;
  }

  made(stream: Stream, isBlocking: boolean): void {
    if (isBlocking) this.#blocking.add(stream);
    else this.#blocking.delete(stream);
  }

  moment(stream: Stream, place: Place, began: Ns): Moment {
    const isOfThread = typeof stream === "string" && stream !== defaultStream(place);
    return { stream, place, began, isBlocking: isOfThread || this.#blocking.has(stream) };
  }

  give(moment: Moment, at: Ns): void {
    this.#busy.set(moment.stream, { ...moment, at });
  }

  /** It goes on with what it was given, and its handle may become another's. Returns whether that is so, as far as anybody knows. */
  destroyed(stream: Stream): boolean {
    const given = this.#busy.get(stream);
    this.#blocking.delete(stream);
    if (given === undefined) return false;
    this.#busy.delete(stream);
    const nameless = `destroyed ${++this.#destroyed}`;
    this.#busy.set(nameless, { ...given, stream: nameless });
    return true;
  }

  /** Somebody who began to wait then has waited for a stream. */
  waitedFor(stream: Stream, since: Ns): void {
    const given = this.#busy.get(stream);
    if (given === undefined || given.at > since) return;
    this.#busy.delete(stream);
    this.#before(given);
  }

  /** Or for all in a place. */
  waitedIn(place: Place, since: Ns): void {
    for (const [stream, given] of this.#busy) if (isSame(given.place, place)) this.waitedFor(stream, since);
  }

  /** A stream has come so far. */
  passed(moment: Moment): void {
    this.waitedFor(moment.stream, moment.began);
    this.#before(moment);
  }

  /** A place is no more. */
  leaves(place: Place): void {
    for (const [stream, given] of this.#busy) if (isSame(given.place, place)) this.#busy.delete(stream);
  }

  /** What other streams had to have done first. */
  #before({ stream, place, began, isBlocking }: Moment): void {
    const common = defaultStream(place);
    if (isBlocking) this.waitedFor(common, began);
    if (stream !== common) return;
    for (const [other, given] of this.#busy) {
      if (given.isBlocking && given.at <= began && isSame(given.place, place)) this.#busy.delete(other);
    }
  }
}

import type { Ns } from "../../lib/events/time.ts";
import { isSame, type Place } from "./devices.ts";
import { defaultStream, type Stream } from "./streams.ts";

/** What a stream was given last, by its number: when that is done, so is all that the stream was given before. */
export type Work = number;

/** Something that a stream is asked for. */
export interface Asked {
  readonly stream: Stream;
  readonly place: Place;
  readonly began: Ns;
  /** The call's end. */
  readonly at: Ns;
}

/** What is known of a stream. */
interface Line {
  /** Undefined: nobody has said. */
  place: Place | undefined;
  /** It and the default stream of its place wait for each other. */
  readonly isBlocking: boolean;
  /** When it was asked last. */
  began: Ns;
  at: Ns;
  /** 0: it was given nothing. */
  work: Work;
  /** Of other streams, what is done before it begins what it was asked for last. */
  readonly behind: Set<Work>;
}

/**
 * What the streams of a process were given and nobody has waited for. CUDA's default stream begins what it is given behind all that the blocking streams of its
 * context were given before, and they what they are given later behind that; a stream that waits for an event begins it behind what came before the event.
 * Whoever has waited for one has waited for the others as far as it had to.
 */
export class GivenWork {
  readonly #busy = new Set<Work>();
  #given = 0;
  /** Those that were destroyed at work by themselves. */
  readonly #lines = new Map<Stream | Line, Line>();
  /** From where all was asked for until now; null: from several places. */
  #only: Place | null | undefined;

  get isNone(): boolean {
    return this.#busy.size === 0;
  }

  /** Something is asked for, of whatever stream. */
  from(place: Place): void {
    this.#only = this.#only === undefined || this.#only !== null && isSame(this.#only, place) ? place : null;
  }

  made(stream: Stream, place: Place, isBlocking: boolean): void {
    // Nobody may have seen that another one with its handle was destroyed.
    this.destroyed(stream);
    this.#line(stream, place, isBlocking);
  }

  /** `isThere`: it cannot be asked for from elsewhere. Copies can. */
  give(asked: Asked, isThere: boolean): void {
    const line = this.#asked(asked);
    this.#busy.delete(line.work);
    this.#busy.add(line.work = ++this.#given);
    if (isThere) line.place = asked.place;
  }

  /** A stream is told to wait for an event. */
  waits(asked: Asked, event: Iterable<Work>): void {
    const { behind } = this.#asked(asked);
    for (const work of event) if (this.#busy.has(work)) behind.add(work);
  }

  /** It goes on with what it was given, and its handle may become another's. Returns whether that is so, as far as anybody knows. */
  destroyed(stream: Stream): boolean {
    const line = this.#lines.get(stream);
    this.#lines.delete(stream);
    for (const [key, other] of this.#lines) if (key === other && !this.#busy.has(other.work)) this.#lines.delete(key);
    if (line === undefined || !this.#busy.has(line.work)) return false;
    this.#lines.set(line, line);
    return true;
  }

  /** What is done before a stream begins what it is asked for then. */
  before({ stream, place, began }: Omit<Asked, "at">): ReadonlySet<Work> {
    const line = this.#lines.get(stream) ?? this.#unseen(stream, place), found = new Set<Work>();
    this.#addKnown(line, began, found);
    this.#addOrdered(stream, line, began, -Infinity, found);
    return found;
  }

  /** Somebody who began to wait then has waited for a stream. */
  waitedFor(stream: Stream, since: Ns): void {
    const line = this.#lines.get(stream), found = new Set<Work>();
    if (line) this.#addKnown(line, since, found);
    this.done(found);
  }

  /** Or for all in a place. */
  waitedIn(place: Place, since: Ns): void {
    const found = new Set<Work>();
    for (const line of this.#lines.values()) if (this.#isIn(line, place)) this.#addKnown(line, since, found);
    this.done(found);
  }

  done(all: Iterable<Work>): void {
    for (const work of all) this.#busy.delete(work);
  }

  /** A place is no more. */
  leaves(place: Place): void {
    for (const [key, line] of this.#lines) {
      if (!this.#isIn(line, place)) continue;
      this.#lines.delete(key);
      this.#busy.delete(line.work);
    }
  }

  /** A stream that nobody has placed is where all is, as long as a process is in one place alone. */
  #isIn(line: Line, place: Place): boolean {
    const its = line.place ?? this.#only;
    return its != null && isSame(its, place);
  }

  /** One that was not seen to be made. Who asks for something of it may be elsewhere, but one without a handle is named after its place. */
  #unseen(stream: Stream, place: Place): Line {
    return typeof stream === "string" ? this.#line(stream, place, stream !== defaultStream(place)) : this.#line(stream, undefined, false);
  }

  #line(stream: Stream, place: Place | undefined, isBlocking: boolean): Line {
    const line: Line = { place, isBlocking, began: -Infinity, at: -Infinity, work: 0, behind: new Set() };
    this.#lines.set(stream, line);
    return line;
  }

  #asked({ stream, place, began, at }: Asked): Line {
    const line = this.#lines.get(stream) ?? this.#unseen(stream, place);
    for (const work of line.behind) if (!this.#busy.has(work)) line.behind.delete(work);
    // What others were asked before its last turn is known.
    this.#addOrdered(stream, line, began, line.began, line.behind);
    line.began = began;
    line.at = at;
    return line;
  }

  /** Adds what other streams were asked from one moment to another one, as far as it comes before what this one is asked for then. */
  #addOrdered(stream: Stream, { place, isBlocking }: Line, until: Ns, from: Ns, found: Set<Work>): void {
    if (place === undefined) return;
    const name = defaultStream(place), common = this.#lines.get(name);
    if (isBlocking && common && common.at > from) this.#addKnown(common, until, found);
    if (stream !== name) return;
    for (const line of this.#lines.values()) {
      if (line.isBlocking && line.at > from && this.#isIn(line, place)) this.#addKnown(line, until, found);
    }
  }

  /** Adds what is done when a line has done what it was asked for, where that was not after this moment. */
  #addKnown({ at, work, behind }: Line, since: Ns, found: Set<Work>): void {
    if (at > since) return;
    if (this.#busy.has(work)) found.add(work);
    for (const other of behind) if (this.#busy.has(other)) found.add(other);
  }
}

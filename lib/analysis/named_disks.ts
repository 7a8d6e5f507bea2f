import type { Counter, Span, Track } from "../events/span.ts";

const OF_DISK = /: disk (\d+:\d+)$/;

/** Rows of disks, and what is told of requests, by the disks' names: a program in the kernel knows a disk by its numbers, `254:0`. */
export class NamedDisks {
  readonly #tracks = new Map<Track, Track>();

  /** Names by numbers. */
  constructor(readonly names: ReadonlyMap<string, string>) {}

  readonly of = (span: Span): Span => {
    if (span.type === "counter") return this.#counter(span);
    if (span.type !== "slice" && span.type !== "instant") return span;
    const { args } = span;
    const name = typeof args?.device === "string" && span.category.startsWith("block.") ? this.names.get(args.device) : undefined;
    return name === undefined ? span : { ...span, track: this.#named(span.track, args!.device as string, name), args: { ...args, device: name } };
  };

  /** `requests at once: disk 254:0` */
  #counter(counter: Counter): Counter {
    const numbers = OF_DISK.exec(counter.track.name)?.[1], name = numbers === undefined ? undefined : this.names.get(numbers);
    return name === undefined ? counter : { ...counter, track: this.#named(counter.track, numbers!, name) };
  }

  /** One object for each row, as it was. */
  #named(track: Track, numbers: string, name: string): Track {
    if (track.kind !== "lane" && track.kind !== "counter") return track;
    let named = this.#tracks.get(track);
    if (!named) this.#tracks.set(track, named = { ...track, name: track.name.replace(numbers, name) });
    return named;
  }
}

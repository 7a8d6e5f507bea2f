import { splitBase } from "../events/time.ts";
import type { StreamSchema } from "../programs/schema.ts";
import { LineSplitter } from "./lines.ts";
import { LineParser } from "./parse.ts";
import type { StreamObserver } from "./timeline.ts";

/** Reads a stream for one who has to act before there is a timeline. Its times count from boot. */
export function watch(schema: StreamSchema, observer: StreamObserver): (bytes: Uint8Array) => void {
  const nothing = () => {};
  const parser = new LineParser(schema, splitBase(0n), {
    event: (event) => observer.event?.(event),
    beat: (at) => observer.beat?.(at),
    window: (at, open) => observer.window?.(at, open),
    swept: (at) => observer.swept?.(at),
    snapshot: nothing,
    emitted: nothing,
    lost: nothing,
    undecodable: nothing,
  });
  const splitter = new LineSplitter();
  return (bytes) => splitter.push(bytes, parser.lines);
}

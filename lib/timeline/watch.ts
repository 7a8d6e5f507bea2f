import type { Event } from "../events/event.ts";
import { splitBase } from "../events/time.ts";
import type { StreamSchema } from "../programs/schema.ts";
import { LineSplitter } from "./lines.ts";
import { LineParser } from "./parse.ts";

/** Reads a stream for one who has to act on its events before there is a timeline. Their times count from boot. */
export function watch(schema: StreamSchema, event: (event: Event) => void): (bytes: Uint8Array) => void {
  const nothing = () => {};
  const parser = new LineParser(schema, splitBase(0n), {
    event,
    beat: nothing,
    window: nothing,
    swept: nothing,
    snapshot: nothing,
    emitted: nothing,
    lost: nothing,
    undecodable: nothing,
  });
  const splitter = new LineSplitter();
  return (bytes) => splitter.push(bytes, parser.lines);
}

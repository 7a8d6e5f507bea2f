import type { Decoder, Event, Field } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { argsOf, type MappedFile } from "./address_space.ts";
import { AddressSpaces, MAPPING_RECORDS } from "./address_spaces.ts";
import { adviceName } from "./calls.ts";
import template from "./lock.bt" with { type: "text" };

const fields: readonly Field[] = [
  { name: "began", type: "time" },
  { name: "length", type: "int", unit: "bytes" },
  { name: "ret", type: "int", unit: "negative errno" },
];

/** Memory that the target asks the kernel to keep resident, or to fill before it is touched. */
export const lock: Probe = {
  name: "memory/lock",
  summary: "mlock: bytes, duration, refusals; madvise that fills a mapping: of which file, how long",
  template,
  tracepoints: ["syscalls:sys_exit_mlock"],
  records: {
    lock: fields,
    advised: [...fields, { name: "advice", type: "int" }],
    // Of either, before it.
    at: [{ name: "address", type: "int", unit: "address" }],
    // It had not returned when the window was shut.
    still: [
      { name: "thread", type: "int", unit: "subject thread" },
      { name: "began", type: "time" },
      { name: "address", type: "int", unit: "address" },
      { name: "length", type: "int", unit: "bytes" },
      { name: "advice", type: "int", unit: "0: mlock" },
    ],
  },
  atClose: `for ($each : @locking) { EMIT(still, $each.1.3, $each.1.0, $each.1.1, $each.1.2, (uint64)0); }
    for ($each : @advising) { EMIT(still, $each.1.3, $each.1.0, $each.1.1, $each.1.2, $each.1.4); }`,
  sees: MAPPING_RECORDS,
  facts: ["mapped"],
  decoder: (tracks) => new LockDecoder(tracks),
};

class LockDecoder implements Decoder {
  readonly #spaces = new AddressSpaces();
  /** By thread. */
  readonly #files = new Map<number, MappedFile | undefined>();

  constructor(readonly tracks: Tracks) {}

  fact(fact: Fact): void {
    this.#spaces.fact(fact);
  }

  event(event: Event, out: SpanSink): void {
    const { record, pid, tid, values } = event;
    switch (record) {
      case "memory/lock.at":
        // Who asks for a part of several mappings asks for them one after another.
        return void this.#files.set(tid, this.#spaces.of(pid).at(values[0] as number).mapping?.file);
      case "memory/lock.lock":
        return this.#slice(event, "mlock", "memory.lock", out);
      case "memory/lock.advised":
        return this.#slice(event, adviceName(values[3] as number), "memory.fill", out);
      case "memory/lock.still": {
        const [, start, address, bytes, advice] = values as [number, Ns, number, number, number];
        const file = this.#spaces.of(pid).at(address).mapping?.file, args = { ...(file && argsOf(file)), bytes };
        const [name, category] = advice === 0 ? ["mlock", "memory.lock"] : [adviceName(advice), "memory.fill"];
        return out({ type: "slice", track: this.tracks.thread(pid, tid), name, category, start, end: event.at, args, open: true });
      }
      default:
        return this.#spaces.event(event);
    }
  }

  end(): void {}

  #slice({ at, pid, tid, values }: Event, name: string, category: string, out: SpanSink): void {
    const [start, bytes, ret] = values as [Ns, number, number];
    const file = this.#files.get(tid);
    this.#files.delete(tid);
    const args = { ...(file && argsOf(file)), bytes, errno: -ret };
    out({ type: "slice", track: this.tracks.thread(pid, tid), name, category, start, end: at, args });
  }
}

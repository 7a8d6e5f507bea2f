import type { Decoder, Event } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import { SAMPLES_PER_SECOND } from "../../lib/programs/detail.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { AddressSpaces, MAPPING_RECORDS } from "../memory/address_spaces.ts";
import { ip } from "./registers.ts";
import template from "./running.bt" with { type: "text" };

/** Whose code runs, by a timer. */
export const running: Probe = {
  name: "process/running",
  summary: `whose code runs, ${SAMPLES_PER_SECOND} times in a second of CPU time`,
  template,
  params: { ip },
  perSecond: SAMPLES_PER_SECOND,
  sees: MAPPING_RECORDS,
  facts: ["mapped"],
  records: { sample: [{ name: "ip", type: "int", unit: "address" }] },
  decoder: (tracks) => new RunningDecoder(tracks),
};

interface Sample {
  readonly at: Ns;
  readonly tid: number;
  readonly address: number;
}

/** So many samples of a process wait to be told whose code they are in: ten seconds of CPU time. */
const MOST_WAITING = 1000;

/** The program itself, and what links it, are mapped by the kernel and not by a call that is seen: samples wait until somebody has looked. */
class RunningDecoder implements Decoder {
  readonly #spaces = new AddressSpaces();
  /** By process. */
  readonly #waiting = new Map<number, Sample[]>();

  constructor(readonly tracks: Tracks) {}

  event(event: Event, out: SpanSink): void {
    const { record, at, pid, tid, values } = event;
    if (record === "process/running.sample") return this.#sample(pid, { at, tid, address: values[0] as number }, out);
    if (record === "process/life.exec") this.#settle(pid, out);
    this.#spaces.event(event);
  }

  fact(fact: Fact): void {
    this.#spaces.fact(fact);
  }

  end(_at: Ns, out: SpanSink): void {
    for (const pid of this.#waiting.keys()) this.#settle(pid, out);
  }

  #sample(pid: number, sample: Sample, out: SpanSink): void {
    const code = this.#codeAt(pid, sample.address);
    if (code !== undefined) return this.#tell(pid, sample, code, out);
    const waiting = this.#waiting.get(pid) ?? [];
    this.#waiting.set(pid, waiting);
    waiting.push(sample);
    if (waiting.length > MOST_WAITING) this.#settle(pid, out);
  }

  /** Nobody will tell any more. */
  #settle(pid: number, out: SpanSink): void {
    for (const sample of this.#waiting.get(pid) ?? []) this.#tell(pid, sample, this.#codeAt(pid, sample.address) ?? "unknown code", out);
    this.#waiting.delete(pid);
  }

  #codeAt(pid: number, address: number): string | undefined {
    if (address < 0) return "the kernel";
    const { mapping } = this.#spaces.of(pid).at(address);
    return mapping && (mapping.file?.name ?? "code that is in no file");
  }

  #tell(pid: number, { at, tid }: Sample, code: string, out: SpanSink): void {
    out({ type: "instant", track: this.tracks.thread(pid, tid), name: `in ${code}`, category: "process.running", at, args: { code } });
  }
}

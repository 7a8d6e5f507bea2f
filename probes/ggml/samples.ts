import type { Decoder, Event } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { Args, SpanSink } from "../../lib/events/span.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import { SAMPLES_PER_SECOND } from "../../lib/programs/detail.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { isOpenMp } from "../../lib/target/system_names.ts";
import { ProcessCode } from "../process/code.ts";
import { cpuBackend } from "./library.ts";
import template from "./samples.bt" with { type: "text" };
import { readableName } from "../process/readable_name.ts";
import { ip } from "../process/registers.ts";
import { OTHER_CODE, WAITING, workOf } from "./work.ts";

/** Which function runs, by a timer. */
export const samples: Probe = {
  name: "ggml/samples",
  summary: `ggml: which function runs, ${SAMPLES_PER_SECOND} times in a second of CPU time`,
  template,
  params: { ip },
  library: { ...cpuBackend, symbols: ["ggml_graph_compute"] },
  details: ["sample"],
  sees: ["process/life.task", "process/life.exec", "process/life.exit"],
  facts: ["table", "code"],
  hot: true,
  perSecond: SAMPLES_PER_SECOND,
  records: { sample: [{ name: "ip", type: "int", unit: "address" }] },
  decoder: (tracks) => new SamplesDecoder(tracks),
};

/** What a sample says: one object for each function. */
interface Place {
  readonly name: string;
  readonly args: Args;
}

const KERNEL: Place = { name: "kernel", args: { work: "kernel", library: "kernel" } };
const UNMAPPED: Place = { name: "unknown code", args: { work: "unknown code", library: "" } };

class SamplesDecoder implements Decoder {
  /** Of every library that is watched: a function's name says which operator it computes, whatever number that has there. */
  #operators: readonly string[] = [];
  readonly #code = new ProcessCode();
  /** By library and function. */
  readonly #places = new Map<string, Place>();

  constructor(readonly tracks: Tracks) {}

  fact(fact: Fact): void {
    this.#code.fact(fact);
    if (fact.fact !== "table" || fact.symbol !== cpuBackend.table) return;
    this.#operators = [...new Set([...this.#operators, ...fact.names])];
    this.#places.clear();
  }

  event(event: Event, out: SpanSink): void {
    const { record, at, pid, tid, values } = event;
    if (record !== "ggml/samples.sample") return this.#code.life(event);
    const { name, args } = this.#place(pid, values[0] as number);
    out({ type: "instant", track: this.tracks.thread(pid, tid), name, category: "ggml.sample", at, args });
  }

  end(): void {}

  #place(pid: number, address: number): Place {
    if (address < 0) return KERNEL;
    const found = this.#code.find(pid, address);
    if (!found) return UNMAPPED;
    const { file, name } = found;
    const key = `${file}\0${name ?? ""}`;
    let place = this.#places.get(key);
    if (!place) this.#places.set(key, place = this.#described(file || "code that is in no file", name));
    return place;
  }

  #described(library: string, name: string | null): Place {
    // ggml's barrier, where that is OpenMP's; nothing is computed in there.
    if (isOpenMp(library)) return { name: name === null ? `in ${library}` : readableName(name), args: { work: WAITING, library } };
    if (name === null) return { name: `in ${library}`, args: { work: library, library } };
    return { name: readableName(name), args: { work: workOf(name, this.#operators) ?? `${OTHER_CODE} of ${library}`, library } };
  }
}

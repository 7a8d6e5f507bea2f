import type { Decoder, Event } from "../../lib/events/event.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { kernelName } from "../gpu/kernel_name.ts";
import { isCut, joined, tellMore } from "../gpu/long_name.ts";
import template from "./kernels.bt" with { type: "text" };

/** When each kernel ran on the GPU, where the program has brought somebody who knows. */
export const kernels: Probe = {
  name: "parcagpu/kernels",
  summary: "parcagpu: when each kernel ran on the GPU",
  template: template.replace("TELL_MORE", () => tellMore("$name", (piece) => `EMIT(more, ${piece});`)),
  params: {
    executed: { type: "site", at: "usdt", functions: [["parcagpu:kernel_executed"]] },
    launched: { type: "site", at: "usdt", functions: [["parcagpu:cuda_correlation"]] },
  },
  library: { prefix: "libparcagpu", symbols: [], ready: "mapped", apart: true, each: true },
  hot: true,
  records: {
    kernel: [
      { name: "ran", type: "int", unit: "ns" },
      { name: "ended", type: "int", unit: "ns of the GPU's clock, modulo 2^52" },
      { name: "device", type: "int" },
      { name: "stream", type: "int" },
      { name: "graph", type: "int", unit: "0: none" },
      { name: "name", type: "text" },
    ],
    // A part of a longer name, before what is told of its kernel: what comes behind the first part.
    more: [{ name: "name", type: "text" }],
  },
  texts: { "kernel.name": "model", "more.name": "model" },
  decoder: (tracks) => new KernelsDecoder(tracks),
};

/** Draws kernels where they ended by the GPU's clock, as far as that can be told: the one that was told of soonest was told of at once. */
class KernelsDecoder implements Decoder {
  /** By process and device: its clock less ours, at most. */
  readonly #ahead = new Map<string, number>();
  /** By process, device and stream: where the last one ended. */
  readonly #ends = new Map<string, number>();

  /** By thread: what is told of the name that comes next, behind its first part. */
  readonly #rest = new Map<number, string>();

  constructor(readonly tracks: Tracks) {}

  event(event: Event, out: SpanSink): void {
    const { record, tid, values } = event, rest = this.#rest.get(tid);
    if (record === "parcagpu/kernels.more") {
      const piece = values[0] as string;
      // One that is whole was of a kernel that has been lost.
      return void this.#rest.set(tid, rest !== undefined && isCut(rest) ? joined(rest, piece) : piece);
    }
    this.#rest.delete(tid);
    this.#kernel(event, rest, out);
  }

  end(): void {
    this.#rest.clear();
  }

  #kernel({ at, pid, values }: Event, rest: string | undefined, out: SpanSink): void {
    const [ran, ended, device, stream, graph, name] = values as [number, number, number, number, number, string];
    const key = `${pid} ${device}`;
    const ahead = Math.max(this.#ahead.get(key) ?? -Infinity, ended - at);
    this.#ahead.set(key, ahead);
    const lane = this.tracks.lane(pid, `GPU ${device}, stream ${stream}`, 7);
    // A better guess may come later: nothing begins before what was there ended.
    const start = Math.max(ended - ran - ahead, this.#ends.get(lane.name + key) ?? -Infinity), end = start + Math.max(0, ran);
    this.#ends.set(lane.name + key, end);
    const args = { device, stream, ...graph !== 0 && { graph } };
    out({
      type: "slice",
      track: lane,
      name: kernelName(rest !== undefined && isCut(name) ? joined(name, rest) : name),
      category: "gpu.kernel",
      start,
      end,
      args,
    });
  }
}

import type { Decoder, Event } from "../../lib/events/event.ts";
import type { Args, SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { OpenSlices } from "../../lib/timeline/open_slices.ts";
import template from "./calls.bt" with { type: "text" };

/** Each by its names from newest to oldest. The first name of the first function is what the slice is called. */
const FUNCTIONS = {
  load: [["llama_model_load_from_file", "llama_load_model_from_file"], ["llama_model_load_from_splits"]],
  context: [["llama_init_from_model", "llama_new_context_with_model"]],
  decode: [["llama_decode"]],
  sample: [["llama_sampler_sample"]],
  apply: [["llama_sampler_apply"]],
} as const;

function sites(): Probe["params"] {
  const entries = Object.entries(FUNCTIONS).flatMap(([name, functions]) =>
    [
      [name, { type: "site", at: "entry", functions }],
      [`${name}_return`, { type: "site", at: "return", functions }],
    ] as const
  );
  return Object.fromEntries(entries);
}

/** Model load, context, decode, encode and sampling of llama.cpp. */
export const calls: Probe = {
  name: "llama/calls",
  summary: "llama.cpp: model load, context, decode, sampling",
  template,
  params: {
    ...sites(),
    // The batch is 56 bytes: the x86-64 convention copies it to the stack above the return address, AAPCS64 passes its address.
    batch: { type: "arch", x86_64: 'reg("sp") + 8', aarch64: "arg1" },
  },
  library: { prefix: "libllama.", symbols: ["llama_decode"], ready: "mapped" },
  records: {
    load: [],
    load_return: [{ name: "ok", type: "int" }],
    context: [],
    context_return: [{ name: "ok", type: "int" }],
    decode: [
      { name: "context", type: "int", unit: "address" },
      { name: "tokens", type: "int" },
      { name: "selects", type: "int", unit: "whether the batch says which tokens want logits" },
      { name: "first", type: "int", unit: "whether the first token does" },
      { name: "last", type: "int", unit: "whether the last one does" },
    ],
    decode_return: [{ name: "ret", type: "int" }],
    sample: [],
    sample_return: [],
    apply: [],
    apply_return: [],
  },
  decoder: (tracks) => new CallsDecoder(tracks),
};

const CATEGORY: Readonly<Record<string, string>> = {
  load: "llama.load",
  context: "llama.context",
  decode: "llama.decode",
  sample: "llama.sample",
  apply: "llama.sample",
};

/** Calls that return a pointer: null is failure. */
const RESULTS = new Set(["load", "context"]);

class CallsDecoder implements Decoder {
  readonly #open = new OpenSlices();
  /** Context → whether its last decode produced logits, so that the next token can follow from it. */
  readonly #hasLogits = new Map<string, boolean>();

  constructor(readonly tracks: Tracks) {}

  event(event: Event, out: SpanSink): void {
    const call = event.record.slice("llama/calls.".length);
    const name = call.replace("_return", "");
    // sample calls apply: one key for both, so that the outermost counts.
    const key = `${event.tid}:${CATEGORY[name]}`;
    if (name !== call) {
      const [ret] = event.values as number[];
      this.#open.end(key, event.at, out, name === "decode" ? { ret: ret! } : RESULTS.has(name) ? { ok: ret === 1 } : undefined);
      return;
    }
    const slice = {
      track: this.tracks.thread(event.pid, event.tid),
      name: FUNCTIONS[name as keyof typeof FUNCTIONS][0][0],
      category: CATEGORY[name]!,
      start: event.at,
      args: this.#args(name, event),
    };
    // A sampler applies samplers. Nothing else calls itself: a second beginning means that the first one's return was lost.
    this.#open.begin(key, slice, out, name === "apply");
  }

  end(at: Ns, out: SpanSink): void {
    this.#open.closeAll(at, out);
  }

  #args(name: string, event: Event): Args | undefined {
    if (name !== "decode") return undefined;
    const [context, tokens, selects, first, last] = event.values as [number, number, number, number, number];
    const key = `${event.pid}:${context}`;
    const before = this.#hasLogits.get(key);
    // A generated token (or one for each of several sequences) wants logits for itself and follows a call that gave some. A prompt's last
    // piece may be a single token too, but the piece before it gave none.
    const all = selects ? first !== 0 && last !== 0 : tokens === 1;
    const phase = all && (before ?? tokens === 1) ? "decode" : "prefill";
    this.#hasLogits.set(key, selects ? last !== 0 : true);
    return { tokens, phase, context };
  }
}

import type { Decoder, Event } from "../../lib/events/event.ts";
import type { Args, Slice, SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Param, Probe, SiteParam } from "../../lib/programs/probe.ts";
import { OpenSlices } from "../../lib/timeline/open_slices.ts";
import { DECODES, decodeSites, decoding, filledSites } from "./decode.ts";
import template from "./calls.bt" with { type: "text" };

/** Each by its names from newest to oldest. The first name of the first function is what the slice is called. */
const FUNCTIONS = {
  load: [["llama_model_load_from_file", "llama_load_model_from_file"], ["llama_model_load_from_splits"]],
  context: [["llama_init_from_model", "llama_new_context_with_model"]],
  decode: [["llama_decode"]],
  encode: [["llama_encode"]],
  sample: [["llama_sampler_sample"]],
  apply: [["llama_sampler_apply"]],
} as const;

/** `decode` and `decode_return`, and so on. */
export function beginningsAndReturns(all: Readonly<Record<string, SiteParam["functions"]>>): Record<string, Param> {
  const sites = Object.entries(all).flatMap(([name, functions]): [string, Param][] => [
    [name, { type: "site", at: "entry", functions }],
    [`${name}_return`, { type: "site", at: "return", functions }],
  ]);
  return Object.fromEntries(sites);
}

/** Model load, context, decode, encode and sampling of llama.cpp. */
export const calls: Probe = {
  name: "llama/calls",
  summary: "llama.cpp: model load, context, decode, sampling",
  template: decoding(template),
  params: {
    ...beginningsAndReturns(FUNCTIONS),
    ...decodeSites,
    ...filledSites,
    forgets: { type: "site", at: "entry", functions: [["llama_perf_context_reset", "llama_reset_timings"]] },
    // A structure of 56 bytes or more behind a pointer: the x86-64 convention copies it to the stack above the return address, AAPCS64 passes its address.
    second: { type: "arch", x86_64: 'reg("sp") + 8', aarch64: "arg1" },
  },
  perToken: true,
  widest: 7,
  library: { prefix: "libllama.", symbols: [DECODES], ready: "mapped", inside: "alone", dispensable: "libggml-cpu" },
  records: {
    load: [],
    load_return: [{ name: "ok", type: "int" }],
    context: [{ name: "cells", type: "int" }, { name: "batch", type: "int" }, { name: "ubatch", type: "int" }, { name: "sequences", type: "int" }],
    context_return: [{ name: "context", type: "int", unit: "address, 0 for none" }],
    decode: [
      { name: "context", type: "int", unit: "address" },
      { name: "tokens", type: "int" },
      { name: "selects", type: "int", unit: "whether the batch says which tokens want logits" },
      { name: "wanting", type: "int", unit: "how many do from the first one on, + 2^21 × runs among these (0: not known)" },
      { name: "last", type: "int", unit: "whether the last one does" },
      {
        name: "places",
        type: "int",
        unit: "2^40 × runs of tokens that follow each other (0: not known) + the sum of the places where they begin; -1: none said",
      },
      { name: "position", type: "int", unit: "of the last one" },
    ],
    decode_return: [{ name: "ret", type: "int" }],
    encode: [{ name: "tokens", type: "int" }],
    encode_return: [{ name: "ret", type: "int" }],
    sample: [],
    sample_return: [],
    apply: [],
    apply_return: [],
    forgets: [{ name: "context", type: "int", unit: "address" }],
  },
  decoder: (tracks) => new CallsDecoder(tracks),
};

const CATEGORY: Readonly<Record<string, string>> = {
  load: "llama.load",
  context: "llama.context",
  decode: "llama.decode",
  encode: "llama.encode",
  sample: "llama.sample",
  apply: "llama.sample",
};

/** Of one sequence in a call: llama.cpp's programs guess 64 at most, unless they are told otherwise. */
const MOST_IN_A_ROW = 100;

/**
 * llama.cpp's programs compute the tokens that begin and end a text in a new context before anything is asked of them, and then have it forget what that
 * took, and those tokens.
 */
const WARMUP_TOKENS = 2;

/** Of so many sequences of a context it is remembered where they ended. */
const MOST_ENDS = 256;

/** In a number of runs and places, and in one of runs and tokens. */
const RUNS = 2 ** 40, LEADING_RUNS = 2 ** 21;

class CallsDecoder implements Decoder {
  readonly #open = new OpenSlices();
  /** Context → whether its last decode produced logits, so that the next token can follow from it. */
  readonly #hasLogits = new Map<string, boolean>();
  /** By context. */
  readonly #ends = new Map<string, SequenceEnds>();
  /** Contexts that were made and have computed nothing. */
  readonly #fresh = new Set<string>();
  /** The first call of a context, which may have warmed it up: what its process does next says so. */
  readonly #first = new Map<string, { readonly tid: number; slice?: Slice }>();

  constructor(readonly tracks: Tracks) {}

  event(event: Event, out: SpanSink): void {
    const call = event.record.slice("llama/calls.".length);
    if (this.#first.size > 0) this.#tellFirst(event, call, out);
    if (call === "forgets") return;
    const name = call.replace("_return", "");
    // sample calls apply: one key for both, so that the outermost counts.
    const key = `${event.tid}:${CATEGORY[name]}`;
    if (name !== call) {
      // It has computed nothing: its first call is a prompt, or one to warm up.
      if (name === "context") {
        this.#hasLogits.set(`${event.pid}:${event.values[0]}`, false);
        this.#ends.delete(`${event.pid}:${event.values[0]}`);
        this.#fresh.add(`${event.pid}:${event.values[0]}`);
      }
      const first = name === "decode" ? [...this.#first.values()].find(({ tid, slice }) => tid === event.tid && !slice) : undefined;
      const told: SpanSink = first ? (slice) => void (first.slice = slice as Slice) : out;
      return void this.#open.end(key, event.at, told, resultOf(name, event.values[0] as number));
    }
    const slice = {
      track: this.tracks.thread(event.pid, event.tid),
      name: FUNCTIONS[name as keyof typeof FUNCTIONS][0][0],
      category: CATEGORY[name]!,
      start: event.at,
      args: this.#args(name, event),
    };
    const context = `${event.pid}:${event.values[0]}`;
    if (name === "decode" && this.#fresh.delete(context) && event.values[1] as number <= WARMUP_TOKENS) this.#first.set(context, { tid: event.tid });
    // A sampler applies samplers. Nothing else calls itself: a second beginning means that the first one's return was lost.
    this.#open.begin(key, slice, out, name === "apply");
  }

  end(at: Ns, out: SpanSink): void {
    for (const { slice } of this.#first.values()) if (slice) out(slice);
    this.#first.clear();
    // What is computed until somebody watches again is not known.
    this.#fresh.clear();
    this.#ends.clear();
    this.#open.closeAll(at, out);
  }

  /** A warm-up is no prompt of anybody's, and takes as long as it takes to read the weights. */
  #tellFirst({ pid, values }: Event, call: string, out: SpanSink): void {
    for (const [context, { slice }] of this.#first) {
      if (!slice || slice.track.pid !== pid) continue;
      this.#first.delete(context);
      const isIt = context === `${pid}:${values[0]}`, isAsked = call === "decode" && isIt;
      // Where llama.cpp is compiled into its caller, nobody sees it forget: its next tokens begin where the first ones did, or are several.
      const [, tokens, , , , places] = values as number[];
      const isAnew = isAsked && (places! < 0 ? tokens! > 1 : places === RUNS);
      if (!(call === "forgets" && isIt) && !isAnew) out(slice);
      else {
        this.#hasLogits.set(context, false);
        this.#ends.delete(context);
        out({ ...slice, category: "llama.warmup" });
      }
    }
  }

  #args(name: string, event: Event): Args | undefined {
    if (name === "encode") return { tokens: event.values[0]! };
    if (name === "context") return sizesOf(event.values as number[]);
    if (name !== "decode") return undefined;
    const [context, tokens, selects, wants, last, places, position] = event.values as [number, number, number, number, number, number, number];
    const [runs, begins] = places < 0 ? [0, -1] : [Math.floor(places / RUNS), places % RUNS];
    const wanting = wants % LEADING_RUNS;
    const key = `${event.pid}:${context}`;
    const before = this.#hasLogits.get(key);
    const every = selects ? wanting === tokens : tokens === 1;
    // Of a text that begins here, as one to embed does, no token is generated, nor of one that is scored: nobody guesses so many.
    const isText = begins === 0 || every && runs > 0 && tokens > runs * MOST_IN_A_ROW;
    // A prompt that is known already is computed from its last token on.
    let ends = this.#ends.get(key);
    if (!ends) this.#ends.set(key, ends = new SequenceEnds());
    const isOne = begins >= 0 && (runs === 1 || tokens === 1);
    const isAskedAgain = tokens === 1 && isOne && ends.isAskedAgain(position);
    // A generated token (or one for each of several sequences) wants logits for itself and follows a call that gave some. A prompt's last piece may be a
    // single token too, but the piece before it gave none. Several of one sequence would not all want some in a prompt: a model that guesses a block of
    // tokens at once (DFlash) is given it behind what the other model has computed, of which it wants none.
    const follows = before ?? (tokens === 1 || runs > 0);
    const phase = every && !isText && (follows || runs === 1 && tokens > 1) && !isAskedAgain ? "decode" : "prefill";
    this.#hasLogits.set(key, selects ? last !== 0 : true);
    const generates = phase === "decode";
    // Sequences that generate come before another's prompt. The last token of one that has not ended yet wants logits as they do.
    const isLastOfPrompt = every && !generates && !isText && runs > 1;
    const leading = generates ? tokens : isLastOfPrompt ? tokens - 1 : selects && !every && begins !== 0 ? wanting : 0;
    const generating = generates ? runs : isLastOfPrompt ? runs - 1 : Math.floor(wants / LEADING_RUNS) || runs - 1;
    // Of several that follow each other in one sequence all but the first one are guesses, and it is for this call to tell which were right.
    const guessed = generating > 0 ? Math.max(0, leading - generating) : 0;
    const generated = leading - guessed;
    if (isOne) ends.ends(position, !generates);
    else ends.forget();
    const told = {
      ...!generates && generated > 0 && { generated },
      ...guessed > 0 && { guessed },
      // Tokens of a picture may all have one place: no run of one sequence, and none of several.
      ...runs > 1 ? { runs, begins } : begins >= 0 && !isOne && { runs: 0 },
    };
    return { tokens, ...told, phase, context, ...begins >= 0 && { position } };
  }
}

/** Where the sequences of a context ended, each as of its last call, and where prompts did: places of last tokens. */
class SequenceEnds {
  #all: number[] = [];
  readonly #prompts: number[] = [];

  /** Whether one token at that place is the last of a prompt that is asked once more: it goes on behind none that is known. */
  isAskedAgain(place: number): boolean {
    const at = this.#all.indexOf(place - 1);
    if (at >= 0) this.#all.splice(at, 1);
    return at < 0 && this.#all.length > 0 && this.#prompts.includes(place);
  }

  ends(place: number, isPrompt: boolean): void {
    for (const places of isPrompt ? [this.#all, this.#prompts] : [this.#all]) if (places.push(place) > MOST_ENDS) places.shift();
  }

  /** Of several at once only the sum of their places is told. */
  forget(): void {
    this.#all = [];
  }
}

/** What a call returned. Load and context return a pointer: null is failure. */
function resultOf(name: string, ret: number): Args | undefined {
  if (name === "decode" || name === "encode") return { ret };
  if (name === "load") return { ok: ret !== 0 };
  if (name === "context") return { ok: ret !== 0, ...ret !== 0 && { context: ret } };
}

/** More cells than any machine has room for; as many sequences as llama.cpp allows. */
const UNBELIEVABLE = 2 ** 28, MOST_SEQUENCES = 256;

/** Of a context. Nothing where the structure is not what is known here; without `cells` where the model decides. */
function sizesOf([cells, batch, ubatch, sequences]: readonly number[]): Args | undefined {
  const isKnown = cells! < UNBELIEVABLE && batch! > 0 && batch! < UNBELIEVABLE && ubatch! < UNBELIEVABLE && sequences! > 0 &&
    sequences! <= MOST_SEQUENCES;
  return isKnown ? { ...cells! > 0 && { cells: cells! }, batch: batch!, ubatch: ubatch!, sequences: sequences! } : undefined;
}

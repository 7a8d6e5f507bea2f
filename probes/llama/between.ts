import type { Decoder, Event, Field } from "../../lib/events/event.ts";
import type { Args, SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Param, Probe } from "../../lib/programs/probe.ts";
import { OpenSlices } from "../../lib/timeline/open_slices.ts";
import template from "./between.bt" with { type: "text" };
import { beginningsAndReturns, calls } from "./calls.ts";

/** Each by its names from newest to oldest. Of state, some call others. */
const ASKED = {
  tokenize: [["llama_tokenize"]],
  detokenize: [["llama_detokenize"]],
  piece: [["llama_token_to_piece"]],
  save: [
    ["llama_state_get_data", "llama_copy_state_data"],
    ["llama_state_save_file", "llama_save_session_file"],
    ["llama_state_seq_get_data"],
    ["llama_state_seq_get_data_ext"],
    ["llama_state_seq_save_file"],
  ],
  restore: [
    ["llama_state_set_data", "llama_set_state_data"],
    ["llama_state_load_file", "llama_load_session_file"],
    ["llama_state_seq_set_data"],
    ["llama_state_seq_set_data_ext"],
    ["llama_state_seq_load_file"],
  ],
} as const;

const CATEGORY: Readonly<Record<keyof typeof ASKED, string>> = {
  tokenize: "llama.tokenize",
  detokenize: "llama.detokenize",
  piece: "llama.detokenize",
  save: "llama.save",
  restore: "llama.restore",
};

function number(name: string): Field {
  return { name, type: "int" };
}

const sequence = number("sequence"), from = number("from"), to = number("to");

/** What is done to the cache of keys and values, by the end of the function's name. Sequence -1: all; position -1: from the first, or to the last. */
const MEMORY: Readonly<Record<string, readonly Field[]>> = {
  clear: [],
  seq_rm: [sequence, from, to],
  seq_cp: [sequence, number("into"), from, to],
  seq_keep: [sequence],
  seq_add: [sequence, from, to, number("by")],
  seq_div: [sequence, from, to, number("by")],
  defrag: [],
  update: [],
};

/** What llama.cpp has done on its own since June 2025. In 2024 each llama_decode asked for an update, too, which does what was asked for until then. */
const FORMER: ReadonlySet<string> = new Set(["defrag", "update"]);

const records: Probe["records"] = {
  tokenize: [number("bytes")],
  tokenize_return: [number("tokens")],
  detokenize: [number("tokens")],
  detokenize_return: [number("bytes")],
  piece: [],
  piece_return: [number("bytes")],
  save: [],
  save_return: [],
  restore: [],
  restore_return: [],
  ...MEMORY,
};

/** Names of the function from newest to oldest. */
function namesOf(end: string): string[] {
  const names = ["llama_memory", "llama_kv_self", "llama_kv_cache"].map((of) => `${of}_${end}`);
  return FORMER.has(end) ? names.slice(1) : names;
}

function ofMemory(): Record<string, Param> {
  const sites = Object.keys(MEMORY).map((end): [string, Param] => [end, { type: "site", at: "entry", functions: [namesOf(end)] }]);
  return Object.fromEntries(sites);
}

/** What an engine asks of llama.cpp between two graphs: text to tokens and back, its state, changes of the cache of keys and values. */
export const between: Probe = {
  name: "llama/between",
  summary: "llama.cpp: tokenizing, state, changes of the cache",
  template,
  params: { ...beginningsAndReturns(ASKED), ...ofMemory() },
  library: calls.library!,
  asked: "between",
  records,
  decoder: (tracks) => new BetweenDecoder(tracks),
};

class BetweenDecoder implements Decoder {
  readonly #open = new OpenSlices();

  constructor(readonly tracks: Tracks) {}

  event(event: Event, out: SpanSink): void {
    const record = event.record.slice("llama/between.".length);
    const { at, pid, tid } = event;
    const track = this.tracks.thread(pid, tid), args = argsOf(record, event);
    if (record in MEMORY) return out({ type: "instant", track, name: namesOf(record)[0]!, category: "llama.memory", at, ...args && { args } });
    const name = record.replace("_return", "") as keyof typeof ASKED;
    const category = CATEGORY[name];
    const key = `${tid}:${category}`;
    if (record !== name) return void this.#open.end(key, at, out, args);
    this.#open.begin(key, { track, name: ASKED[name][0][0], category, start: at, args }, out, name === "save" || name === "restore");
  }

  end(at: Ns, out: SpanSink): void {
    this.#open.closeAll(at, out);
  }
}

/** By the record's fields. A function that returns a negative number says how much room it would have wanted. */
function argsOf(record: string, { values }: Event): Args | undefined {
  const fields = records[record]!;
  if (fields.length === 0) return undefined;
  const isRefused = record.endsWith("_return") && (values[0] as number) < 0;
  return isRefused ? { wanted: -(values[0] as number) } : Object.fromEntries(fields.map(({ name }, i) => [name, values[i]!]));
}

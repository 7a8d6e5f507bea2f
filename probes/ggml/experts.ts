import type { Event } from "../../lib/events/event.ts";
import type { SpanSink, Track } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import { MOST_EXPERTS, type Tensor } from "./tensor.ts";

/** Of a record: two numbers in each pair, the second times this. */
const PAIR = 2 ** 32, IN_RECORD = 8;

/** How often the load of experts is told, and of how many: each has a row of its own. */
const LOAD_EVERY_NS = 100e6, MOST_ROWS = 512;

/** A router's choice while it is being told. */
interface Choice {
  readonly at: Ns;
  readonly track: Track;
  /** Its first product: others of the layer that share the choice do not tell it again. */
  readonly tensor: Tensor | undefined;
  readonly ids: number;
  readonly tokens: number;
  readonly used: number;
  readonly chosen: Map<number, number>;
  read: number;
  /** Records that came. */
  parts: number;
}

/** What a thread computes now. */
export type FindCurrent = (tid: number) => { readonly track: Track; readonly tensor: Tensor | undefined } | undefined;

/** Which experts each layer of a mixture used, for whole batches: one instant for a layer and a graph. */
export class ExpertChoices {
  /** By thread: what is being told. */
  readonly #open = new Map<number, Choice>();
  /** By thread: choices that its graph has told. */
  readonly #told = new Map<number, Set<number>>();

  readonly #load: ExpertLoad;

  constructor(readonly find: FindCurrent, tracks: Tracks) {
    this.#load = new ExpertLoad(tracks);
  }

  /** Whether any thread is telling a choice. */
  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  chosen({ at, tid, values }: Event, out: SpanSink): void {
    const [ids, tokens, used, part, ...pairs] = values as number[] as [number, number, number, number, ...number[]];
    let choice = this.#open.get(tid);
    if (!choice || choice.ids !== ids) {
      this.#finish(tid, out);
      choice = this.#begin(at, tid, ids, tokens, used);
      if (!choice) return;
    }
    const parts = Math.ceil(used / IN_RECORD);
    const here = Math.min(IN_RECORD, used - part % parts * IN_RECORD);
    for (let i = 0; i < here; i++) {
      const pair = pairs[i >> 1]!;
      const high = Math.floor(pair / PAIR);
      add(choice, i % 2 === 0 ? pair - high * PAIR : high);
    }
    if (++choice.parts === tokens * parts) this.#finish(tid, out);
  }

  /** The thread begins an operator: what it told of the one before was all, however much of the choice that is. */
  op({ tid }: Event, out: SpanSink): void {
    this.#finish(tid, out);
  }

  /** A graph of the thread begins or ends. */
  graph({ at, tid }: Event, out: SpanSink): void {
    if (this.#told.size === 0) return;
    this.#finish(tid, out);
    this.#told.delete(tid);
    this.#load.tell(at, out, LOAD_EVERY_NS);
  }

  end(at: Ns, out: SpanSink): void {
    for (const tid of [...this.#open.keys()]) this.#finish(tid, out);
    this.#load.tell(at, out, 0);
  }

  #begin(at: Ns, tid: number, ids: number, tokens: number, used: number): Choice | undefined {
    const current = this.find(tid);
    let told = this.#told.get(tid);
    if (!told) this.#told.set(tid, told = new Set());
    // Without a row: what told who the thread is was lost. Told before: graphs of several threads at once make the program forget what it told.
    if (!current || told.has(ids)) return undefined;
    told.add(ids);
    const choice = { at, ...current, ids, tokens, used, chosen: new Map(), read: 0, parts: 0 };
    this.#open.set(tid, choice);
    return choice;
  }

  #finish(tid: number, out: SpanSink): void {
    const choice = this.#open.get(tid);
    if (!choice) return;
    this.#open.delete(tid);
    const { at, track, tensor, tokens, used, read } = choice;
    // Other operators have numbers in their third source as well.
    if (tensor && tensor.op !== "MUL_MAT_ID") return;
    const experts = tensor?.experts;
    const chosen = new Map([...choice.chosen].sort(([a], [b]) => a - b));
    const known = { ...(tensor?.layer !== undefined && { layer: tensor.layer }), ...(experts !== undefined && { experts }) };
    const unread = tokens * used - read;
    const text = [...chosen].map(([expert, times]) => times === 1 ? `${expert}` : `${expert}×${times}`).join(" ");
    const args = { ...known, tokens, used, chosen: text, ...(unread > 0 && { unread }) };
    const told = { layer: tensor?.layer, experts, used, tokens, chosen, unread };
    out({ type: "instant", track, name: "experts", category: "ggml.experts", at, args, choice: told });
    if (experts !== undefined && experts <= MOST_ROWS) this.#load.add(track.pid, chosen);
  }
}

/** How many tokens went to each expert of any layer until now, over time: a counter for each, in each process. */
class ExpertLoad {
  readonly #processes = new Map<number, { readonly tokens: Map<number, number>; readonly changed: Set<number>; at: Ns }>();

  constructor(readonly tracks: Tracks) {}

  add(pid: number, chosen: ReadonlyMap<number, number>): void {
    let process = this.#processes.get(pid);
    if (!process) this.#processes.set(pid, process = { tokens: new Map(), changed: new Set(), at: -Infinity });
    for (const [expert, times] of chosen) {
      process.tokens.set(expert, (process.tokens.get(expert) ?? 0) + times);
      process.changed.add(expert);
    }
  }

  /** Of processes of which nothing was told for so long. */
  tell(at: Ns, out: SpanSink, every: Ns): void {
    for (const [pid, process] of this.#processes) {
      if (at - process.at < every || process.changed.size === 0) continue;
      process.at = at;
      for (const expert of [...process.changed].sort((a, b) => a - b)) {
        out({
          type: "counter",
          track: this.tracks.counter(pid, `expert ${expert}`, "tokens", { group: "experts" }),
          at,
          value: process.tokens.get(expert)!,
        });
      }
      process.changed.clear();
    }
  }
}

/** What no expert can have as its number was not read. */
function add(choice: Choice, expert: number): void {
  if (!(expert < (choice.tensor?.experts ?? MOST_EXPERTS))) return;
  choice.chosen.set(expert, (choice.chosen.get(expert) ?? 0) + 1);
  choice.read++;
}

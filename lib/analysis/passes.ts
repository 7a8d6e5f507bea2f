import type { Ns } from "../events/time.ts";
import { Histogram } from "./histogram.ts";
import type { Call } from "./nested_calls.ts";
import type { TorchResult } from "./torch_schema.ts";

/** A time without a call is a pause when it is so many times as long as is usual between two calls, and no shorter than this. */
const RATIO = 10, SHORTEST_NS = 50_000;
/** What is usual is at first taken for this, and becomes so much longer or shorter with each time that is: the median of the last ones. */
const FIRST_NS = 10_000, STEP = 1.05;
/** So many pieces wait for those that come again; a pass is of no more pieces than this; so many kinds are told apart. */
const WAITING = 4096, MOST_PIECES = 512, MOST_KINDS = 256;
/** A pass ends at one of so many next pauses, or at one of so many behind them that are not many times shorter than the one before it. */
const NEAR = 16, ALIKE = 16, SHORTER = 4;
/** A longer one is the pass only when it came so many times as often: where layers are alike, chance pauses in two passes make one that came once more. */
const OFTENER = 1.25;

/** Calls between two pauses, or several such pieces one behind another. */
interface Piece {
  readonly run: Run;
  readonly first: string;
  readonly start: Ns;
  /** Without a call, before it. NaN: nobody knows how long. */
  readonly before: number;
  last: string;
  end: Ns;
  calls: number;
  /** How many were joined. */
  pieces: number;
  /** Of the calls' names in their order, so that the one of two pieces follows from those of each: a polynomial, and its factor to the power of `calls`. */
  hash: number;
  power: number;
}

/** What was seen of a thread without interruption. */
interface Run {
  /** How long that was, without the time in which the process was held still. */
  readonly net: (start: Ns, end: Ns) => number;
}

interface Kind {
  readonly first: string;
  readonly last: string;
  readonly calls: number;
  readonly whole: Histogram;
  readonly before: Histogram;
}

const FACTOR = 0x01000193;

function joined(a: Piece, b: Piece): Piece {
  const hash = (Math.imul(a.hash, b.power) + b.hash) | 0;
  return { ...a, last: b.last, end: b.end, calls: a.calls + b.calls, pieces: a.pieces + b.pieces, hash, power: Math.imul(a.power, b.power) };
}

/**
 * What may be the pass that begins with the piece at `from`, the shortest first. Where somebody else often has the processor, many short pauses lie
 * in a pass; the one that ends it is then found by being like the one before it.
 */
function beginnings(pieces: readonly Piece[], from: number): Piece[] {
  const passes: Piece[] = [];
  let pass = pieces[from]!;
  const end = Math.min(from + MOST_PIECES, pieces.length);
  for (let i = from + 1; i < end; i++) {
    const next = pieces[i]!;
    if (passes.length < NEAR || !(next.before * SHORTER < pass.before)) passes.push(pass);
    if (passes.length === NEAR + ALIKE) return passes;
    pass = joined(pass, next);
  }
  passes.push(pass);
  return passes;
}

function keyOf({ calls, hash }: Piece): string {
  return `${calls} ${hash}`;
}

/**
 * Passes of all threads, by kind. Between two passes there is a pause, but not each pause is one between passes: somebody else may have had the
 * processor. So of the pieces that follow a pause those are one pass which came, together and one behind another, most often; the fewest of these.
 */
export class PassKinds {
  readonly #ids = new Map<string, number>();
  #waiting: Piece[] = [];
  /** How often that came, in whatever pieces, by its calls. */
  #seen = new Map<string, number>();
  readonly #kinds = new Map<string, Kind>();
  readonly #others = { times: 0, totalNs: 0 };

  idOf(name: string): number {
    let id = this.#ids.get(name);
    if (id === undefined) this.#ids.set(name, id = this.#ids.size + 1);
    return id;
  }

  add(piece: Piece): void {
    if (this.#waiting.push(piece) >= WAITING) this.#settle();
  }

  result(): TorchResult["passes"] {
    this.#settle();
    const all = [...this.#kinds.values()];
    // A piece of one came as often as that of another.
    const once = all.filter(({ whole }) => whole.count === 1);
    const others = {
      times: this.#others.times + once.length,
      totalNs: once.reduce((sum, { whole }) => sum + whole.sum, this.#others.totalNs),
    };
    const kinds = all.filter(({ whole }) => whole.count > 1).map(({ first, last, calls, whole, before }) => ({
      first,
      last,
      calls,
      times: whole.count,
      totalNs: whole.sum,
      p50Ns: whole.quantile(0.5)!,
      p99Ns: whole.quantile(0.99)!,
      maxNs: whole.max,
      beforeP50Ns: before.quantile(0.5),
    }));
    return { kinds: kinds.sort((a, b) => b.totalNs - a.totalNs), others };
  }

  #settle(): void {
    const runs = [...Map.groupBy(this.#waiting, ({ run }) => run).values()];
    for (const pieces of runs) {
      for (const i of pieces.keys()) {
        for (const pass of beginnings(pieces, i)) {
          const key = keyOf(pass);
          this.#seen.set(key, (this.#seen.get(key) ?? 0) + 1);
        }
      }
    }
    for (const pieces of runs) {
      for (let i = 0; i < pieces.length;) i += this.#settleFirst(beginnings(pieces, i));
    }
    this.#waiting = [];
    if (this.#seen.size > WAITING) this.#seen = new Map([...this.#seen].filter(([, times]) => times > 1));
  }

  /** Returns of how many pieces the pass is. */
  #settleFirst(passes: readonly Piece[]): number {
    let [best, most] = [passes[0]!, 0];
    for (const pass of passes) {
      const times = this.#seen.get(keyOf(pass))!;
      if (times > most * OFTENER) [best, most] = [pass, times];
    }
    this.#count(best, most > 1);
    return best.pieces;
  }

  #count(pass: Piece, cameAgain: boolean): void {
    const { run, first, last, start, end, before, calls } = pass;
    const ns = run.net(start, end);
    const key = keyOf(pass);
    let kind = this.#kinds.get(key);
    if (!kind && (!cameAgain || this.#kinds.size === MOST_KINDS)) {
      this.#others.times++;
      this.#others.totalNs += ns;
      return;
    }
    if (!kind) this.#kinds.set(key, kind = { first, last, calls, whole: new Histogram(), before: new Histogram() });
    kind.whole.add(ns);
    if (before >= 0) kind.before.add(before);
  }
}

/** A thread's calls, cut where it makes none for long: the passes through a model, and what is computed between two of them. */
export class Passes {
  #run: Run;
  #piece: Piece | null = null;
  #usual = FIRST_NS;

  constructor(readonly kinds: PassKinds, readonly net: Run["net"]) {
    this.#run = { net };
  }

  /** A call that no other made, so many nanoseconds behind the one before; NaN: nobody knows. */
  call({ name, start, end }: Call, gap: number): void {
    if (gap > Math.max(RATIO * this.#usual, SHORTEST_NS)) this.#cut();
    if (gap >= 0) this.#usual *= gap > this.#usual ? STEP : 1 / STEP;
    const piece = this.#piece ??= { run: this.#run, first: name, start, before: gap, last: name, end, calls: 0, pieces: 1, hash: 0, power: 1 };
    piece.last = name;
    piece.end = end;
    piece.calls++;
    piece.hash = (Math.imul(piece.hash, FACTOR) + this.kinds.idOf(name)) | 0;
    piece.power = Math.imul(piece.power, FACTOR);
  }

  /** What follows comes after a time that nobody watched. */
  interrupt(): void {
    this.#cut();
    this.#run = { net: this.net };
  }

  #cut(): void {
    if (this.#piece) this.kinds.add(this.#piece);
    this.#piece = null;
  }
}

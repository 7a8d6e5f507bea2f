import type { Event, Field } from "../../lib/events/event.ts";
import type { Fact, Place } from "../../lib/events/fact.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import { readableName } from "./readable_name.ts";

/** Where the thread is, and so many that called. */
export const MOST_FRAMES = 24;
/** What one function keeps on the stack is less. */
const LARGEST_FRAME = 1 << 20;

/** A frame of a stack that was not told before: 0 is where the thread is, 1 what called that. */
export const frameRecord = [
  { name: "stack", type: "int", unit: "id" },
  { name: "depth", type: "int" },
  { name: "address", type: "int", unit: "address" },
] as const satisfies readonly Field[];

/**
 * Statements that walk through the stack of this thread by its frame pointers, from `$ip`, `$sp` and `$fp` on, and first of all, where a function was just
 * called, `$caller`, which is 0 elsewhere; each caller is `$back`. Where the code keeps
 * none there, what `$fp` points to is no frame: the walk ends as soon as it leads out of the stack, and who reads it looks whether a call stands before
 * each address.
 */
const walk = (each: string): string =>
  `$depth = (uint64)1; $above = $sp; $frame = $fp; $back = (uint64)$caller;
  if ($back > 0) { ${each} $depth = (uint64)2; }
  while ($depth < ${MOST_FRAMES} && $frame >= $above && $frame - $above < ${LARGEST_FRAME} && $frame % 8 == 0) {
    $back = *uptr((uint64 *)($frame + 8));
    if ($back > 4095) { ${each} }
    $above = $frame + 16;
    $frame = *uptr((uint64 *)$frame);
    if ($back <= 4095) { $frame = (uint64)0; }
    $depth = $depth + 1;
  }`;

/** `NUMBER_STACK` makes `$stack` of a stack: equal ones of a process have the same number. `TELL_STACK` tells the frames of one that was not told before. */
export function withStacks(template: string): string {
  const mixed = (address: string) => `$stack = ($stack + ${address}) * 6364136223846793005 + 1442695040888963407; $stack = $stack ^ ($stack >> 29);`;
  return template
    .replaceAll("NUMBER_STACK", () => `$stack = (uint64)pid; ${mixed("$ip")} ${walk(mixed("$back"))} $stack = ($stack >> 12) + 1;`)
    .replaceAll(
      "TELL_STACK",
      () =>
        `if (@stack_told[$stack] == 0) { @stack_told[$stack] = (uint64)1; EMIT(frame, $stack, (uint64)0, $ip); ${
          walk("EMIT(frame, $stack, $depth, $back);")
        } }`,
    );
}

/** A stack that was seen: a small number of its own, and who called whom, the innermost first. */
export interface Stack {
  readonly id: number;
  readonly pid: number;
  readonly frames: number[];
}

/** The stacks that a decoder is told of, and what their addresses stand for. */
export class Stacks {
  readonly #stacks = new Map<number, Stack>();
  /** Thread → the stack of what it tells next. */
  readonly #next = new Map<number, number>();
  /** By process and address: what is no code, or called nobody, has no place. */
  readonly #places = new Map<number, Map<number, Place>>();

  /** `before`: how many were numbered before. */
  constructor(readonly before = 0) {}

  fact(fact: Fact): void {
    if (fact.fact !== "places") return;
    let known = this.#places.get(fact.pid);
    if (!known) this.#places.set(fact.pid, known = new Map());
    for (const place of fact.places) known.set(place.at, place);
  }

  /** A `frame`. */
  frame({ pid, values }: Event): void {
    const [key, depth, address] = values as readonly [number, number, number];
    this.#of(key, pid).frames[depth] = address;
  }

  /** An `at`: of what the thread tells next, the stack is known. */
  came({ pid, tid }: Event, key: number): void {
    this.#next.set(tid, this.#of(key, pid).id);
  }

  /** The small number of the stack with which what a thread tells came about; undefined: none was told. */
  take(tid: number): number | undefined {
    const id = this.#next.get(tid);
    this.#next.delete(tid);
    return id;
  }

  /** Tells of all stacks, in a category of their own. Returns those of another life of the target, which tells all anew. */
  end(at: Ns, category: string, tracks: Tracks, out: SpanSink): Stacks {
    for (const stack of this.told()) {
      const { id, pid, frames } = stack;
      const args = { stack: id, frames: frames.join(" ← ") };
      out({ type: "instant", track: tracks.lane(pid, "stacks", 4), name: `stack ${id}`, category, at, args, stack });
    }
    return new Stacks(this.before + this.#stacks.size);
  }

  /** All stacks that were told of, with their frames in words, the innermost first. */
  *told(): Generator<{ readonly id: number; readonly pid: number; readonly frames: readonly string[] }> {
    for (const { id, pid, frames } of this.#stacks.values()) yield { id, pid, frames: this.#words(pid, frames) };
  }

  #of(key: number, pid: number): Stack {
    let stack = this.#stacks.get(key);
    if (!stack) this.#stacks.set(key, stack = { id: this.before + this.#stacks.size + 1, pid, frames: [] });
    return stack;
  }

  /** As far as there is code that called what stands before. Of a process that ended before anybody looked, addresses. */
  #words(pid: number, frames: readonly number[]): string[] {
    const known = this.#places.get(pid);
    const words: string[] = [];
    for (const address of frames) {
      const place = known?.get(address);
      if (address === undefined || (known && !place)) break;
      // Where the kernel has the function return that is watched until it returns: whoever called it is the next one whose place is known.
      if (place?.file === "[uprobes]") continue;
      words.push(place ? wordOf(place) : `0x${address.toString(16)}`);
    }
    return words;
  }
}

function wordOf({ file, name, offset }: Place): string {
  if (name !== null) return `${readableName(name)} (${file})`;
  return file === "" ? "code in no file" : `${file}+0x${offset.toString(16)}`;
}

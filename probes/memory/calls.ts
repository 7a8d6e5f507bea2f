import type { Decoder, Event, Snapshot } from "../../lib/events/event.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import template from "./calls.bt" with { type: "text" };

const MLOCK = 4;
const key = ["pid", "kind"];

/** Memory that the target asks for, gives back, and tells the kernel about. */
export const calls: Probe = {
  name: "memory/calls",
  summary: "mmap, munmap, mremap, mlock, munlock, mlockall, munlockall, madvise: calls, bytes, time, failures",
  template,
  tracepoints: ["syscalls:sys_exit_mmap", "syscalls:sys_exit_madvise"],
  records: {},
  maps: {
    memory_calls: { key, unit: "calls" },
    memory_bytes: { key, unit: "bytes" },
    memory_ns: { key, unit: "ns" },
    memory_failed: { key, unit: "calls" },
  },
  sees: ["memory/lock.lock", "memory/lock.still"],
  decoder: (tracks) => new CallsDecoder(tracks),
};

/** By their numbers in the template. */
const KINDS = ["", "mmap of nothing", "mmap of a file", "munmap", "mlock", "munlock", "mremap", "mlockall", "munlockall"];
/** `madvise`, by its numbers (linux/mman.h). */
const ADVICE: Readonly<Record<number, string>> = {
  0: "normal",
  1: "random",
  2: "sequential",
  3: "willneed",
  4: "dontneed",
  8: "free",
  9: "remove",
  10: "dontfork",
  11: "dofork",
  12: "mergeable",
  13: "unmergeable",
  14: "hugepage",
  15: "nohugepage",
  16: "dontdump",
  17: "dodump",
  18: "wipeonfork",
  19: "keeponfork",
  20: "cold",
  21: "pageout",
  22: "populate_read",
  23: "populate_write",
  25: "collapse",
};
const MADVISE = 16;

/** `madvise (willneed)` */
export function adviceName(number: number): string {
  return `madvise (${ADVICE[number] ?? number})`;
}

export function kindOf(number: number): string {
  return number < MADVISE ? KINDS[number] ?? `call ${number}` : adviceName(number - MADVISE);
}

interface Sums {
  readonly pid: number;
  readonly kind: string;
  calls: number;
  bytes: number;
  ns: number;
  failed: number;
}

/** What a program sums up begins afresh with another life of the target, and another turn: these have streams of their own. */
const FIELDS: Readonly<Record<string, "calls" | "bytes" | "ns" | "failed">> = {
  "memory/calls.memory_calls": "calls",
  "memory/calls.memory_bytes": "bytes",
  "memory/calls.memory_ns": "ns",
  "memory/calls.memory_failed": "failed",
};

/** How often a rate is drawn. */
const DRAWN_EVERY = 1e9;

class CallsDecoder implements Decoder {
  /** By stream, process and kind. */
  #sums = new Map<string, Sums>();
  /** By process, kind and what is counted: what was drawn last. */
  readonly #drawn = new Map<string, { readonly at: Ns; readonly total: number }>();

  constructor(readonly tracks: Tracks) {}

  /** Of mlock, which is told call by call. */
  event({ at, stream, pid, record, values }: Event, out: SpanSink): void {
    if (record === "memory/lock.still") {
      const [, began, , , advice] = values as [number, Ns, number, number, number];
      if (advice === 0) this.#call(stream, pid, at - began, 0, 0, at, out);
      return;
    }
    const [began, bytes, ret] = values as [Ns, number, number];
    this.#call(stream, pid, at - began, bytes, ret, at, out);
  }

  #call(stream: string, pid: number, ns: number, bytes: number, ret: number, at: Ns, out: SpanSink): void {
    const [id, sums] = this.#find(stream, pid, MLOCK);
    sums.calls++;
    sums.ns += ns;
    if (ret < 0) sums.failed++;
    else sums.bytes += bytes;
    this.#draw(id, sums, "calls", at, out);
    this.#draw(id, sums, "bytes", at, out);
  }

  snapshot({ at, stream, map, key, value }: Snapshot, out: SpanSink): void {
    const [id, sums] = this.#find(stream, key[0]!, key[1]!);
    sums[FIELDS[map]!] = value;
    const field = FIELDS[map]!;
    if (field === "calls" || field === "bytes") this.#draw(id, sums, field, at, out);
  }

  #find(stream: string, pid: number, number: number): [string, Sums] {
    const id = `${stream} ${pid} ${number}`;
    let sums = this.#sums.get(id);
    if (!sums) this.#sums.set(id, sums = { pid, kind: kindOf(number), calls: 0, bytes: 0, ns: 0, failed: 0 });
    return [id, sums];
  }

  end(at: Ns, out: SpanSink): void {
    for (const [id, sums] of this.#sums) {
      for (const field of ["calls", "bytes"] as const) this.#draw(id, sums, field, at, out, true);
      const { pid, kind, ...args } = sums;
      out({ type: "instant", track: this.tracks.lane(pid, "memory calls", 3), name: kind, category: "memory.calls", at, args: { kind, ...args } });
    }
    this.#sums = new Map();
  }

  #draw(id: string, { pid, kind, ...sums }: Sums, field: "calls" | "bytes", at: Ns, out: SpanSink, isLast = false): void {
    const drawn = `${id} ${field}`, before = this.#drawn.get(drawn), total = sums[field];
    // Of some calls nobody knows of how much they are.
    if (before ? at - before.at < (isLast ? 1 : DRAWN_EVERY) : field === "bytes" && total === 0) return;
    // The first ones have come a moment ago: they belong to the second that begins.
    this.#drawn.set(drawn, { at, total: before ? total : 0 });
    const value = before ? (total - before.total) / ((at - before.at) / 1e9) : 0;
    const track = field === "calls" ? this.tracks.counter(pid, kind, "per second") : this.tracks.counter(pid, `${kind}: memory`, "bytes per second");
    out({ type: "counter", track, at, value, total });
  }
}

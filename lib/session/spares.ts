import { atLeast, type Bpftrace, hasRingBuffer } from "../machine/bpftrace.ts";
import { bufferOf, type BufferUnits } from "../machine/buffer.ts";
import type { Child } from "../machine/child.ts";
import { rowsPerMap } from "../programs/rotating_maps.ts";
import { DEFAULT_MAP_KEYS, type InvocationOptions } from "../tracing/command_line.ts";
import { type ProcessOptions, startBpftrace } from "../tracing/running_program.ts";
import type { Means } from "./means.ts";

export type ProcessKind = Pick<ProcessOptions, "unsafe" | "prompt">;

/** One size for all programs of a run: bpftraces are started before it is known which program they will run. */
export function sizesOf(bpftrace: Bpftrace, askedPages: number, machine: BufferUnits): Pick<InvocationOptions, "bufferPages" | "mapKeys"> {
  const mapKeys = hasRingBuffer(bpftrace) ? DEFAULT_MAP_KEYS : rowsPerMap(askedPages);
  return { bufferPages: bufferOf(bpftrace, askedPages, machine).pages, mapKeys };
}

/** bpftraces that wait for their program: to load one takes longer than to find out what the program is. */
export class Spares {
  readonly #waiting: { readonly kind: ProcessKind; readonly child: Child }[] = [];

  constructor(
    readonly means: Pick<Means, "spawn" | "symbols">,
    readonly bpftrace: Bpftrace,
    readonly bufferPages: number,
    readonly machine: BufferUnits,
  ) {}

  /** From now on at least these wait. */
  expect(kinds: readonly ProcessKind[]): void {
    const waiting = [...this.#waiting];
    for (const kind of kinds) {
      const at = waiting.findIndex((spare) => isSame(spare.kind, kind));
      if (at >= 0) waiting.splice(at, 1);
      else this.#waiting.push({ kind, child: this.#start(kind) });
    }
  }

  /** One that waits, or a new one. */
  take(kind: ProcessKind): Child {
    const at = this.#waiting.findIndex((spare) => isSame(spare.kind, kind));
    return at < 0 ? this.#start(kind) : this.#waiting.splice(at, 1)[0]!.child;
  }

  end(): void {
    for (const { child } of this.#waiting.splice(0)) child.kill("SIGKILL");
  }

  #start(kind: ProcessKind): Child {
    const { means: { spawn, symbols }, bpftrace: { path, version, features }, bufferPages, machine } = this;
    return startBpftrace({
      bpftrace: path,
      ...sizesOf(this.bpftrace, bufferPages, machine),
      warnsOfLoss: atLeast(version, 0, 24),
      ...(features.symbols && { symbols: symbols.environment }),
      ...(features.traceableList && { traceable: symbols.traceable }),
      ...kind,
    }, spawn);
  }
}

function isSame(a: ProcessKind, b: ProcessKind): boolean {
  return a.unsafe === b.unsafe && a.prompt === b.prompt;
}

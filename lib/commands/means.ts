import type { Bpftrace } from "../machine/bpftrace.ts";
import type { BufferUnits } from "../machine/buffer.ts";
import { readCapabilities } from "../machine/capabilities.ts";
import { spawnChild } from "../machine/child.ts";
import { preflight } from "../machine/needs/needs.ts";
import { ReaderFiles } from "../machine/reader_files.ts";
import { SymbolTables } from "../machine/symbol_tables.ts";
import type { Hands, Means } from "../session/means.ts";
import type { Context } from "./terminal.ts";

/** The real world, while it is found out what machine it is. */
export interface Reading {
  readonly hands: Hands;
  /** Known before the rest of the machine is; null where there is none. */
  readonly bpftrace: Promise<Bpftrace | null>;
  /** And what the size of its buffer depends on. */
  readonly units: Promise<BufferUnits>;
  readonly means: Promise<Means>;
}

/** The real world, with the bpftrace of that path or the one that is found. */
export function readMeans(bpftrace: string | undefined): Promise<Means> {
  return beginReading(bpftrace).means;
}

/** Children read: nothing is changed on the machine, and who needs it no more need not wait for it. `path`: see {@link readMeans}. */
export function beginReading(path: string | undefined): Reading {
  const hands: Hands = {
    files: new ReaderFiles(),
    spawn: spawnChild,
    symbols: new SymbolTables(),
    // Unreferenced: a deadline that nobody waits for any more must not keep the process alive.
    sleep: (milliseconds) => new Promise((resolve) => Deno.unrefTimer(setTimeout(resolve, milliseconds))),
    monotonic: () => performance.now(),
    origin,
    self: Deno.pid,
  };
  const { promise: bpftrace, resolve: onBpftrace } = Promise.withResolvers<Bpftrace | null>();
  const { promise: units, resolve: onUnits } = Promise.withResolvers<BufferUnits>();
  const known = { remember: "use", onBpftrace, onUnits } as const;
  const machine = readCapabilities(hands.files, { pid: Deno.pid, bpftrace: path, path: Deno.env.get("PATH"), ...known });
  machine.then(({ bpftrace }) => onBpftrace(bpftrace), () => onBpftrace(null));
  const means = machine.then((machine): Means => ({ ...hands, machine }));
  // Thrown to who waits for it, if anybody still does.
  for (const begun of [means, units]) begun.catch(() => {});
  return { hands, bpftrace, units, means };
}

/** Not `performance.timeOrigin`, which is told by the wall clock of llmprof's start. */
export function origin(): number {
  return Number(Temporal.Now.instant().epochNanoseconds / 1000n) / 1000 - performance.now();
}

/** Throws why this machine cannot trace. Comes after what may be wrong with the command line: that can be mended at once. */
export function mustTrace({ machine }: Means, context: Context): void {
  const [problem] = preflight(machine, context);
  if (problem) throw problem;
}

import process from "node:process";
import type { Bpftrace } from "../machine/bpftrace.ts";
import { readCapabilities } from "../machine/capabilities.ts";
import { spawnChild } from "../machine/child.ts";
import { preflight } from "../machine/needs/needs.ts";
import { ReaderFiles } from "../machine/reader_files.ts";
import { SymbolTables } from "../machine/symbol_tables.ts";
import type { Means } from "../session/means.ts";
import { ignoresHangup } from "../target/process.ts";
import type { Context } from "./terminal.ts";

/** From now on a signal is a normal end. Returns whether llmprof runs under `nohup`, which has to be asked before. */
export async function heedSignals(context: Context): Promise<boolean> {
  const underNohup = await ignoresHangup(new ReaderFiles(), process.pid);
  context.heedSignals(underNohup);
  return underNohup;
}

/** `ahead`: is told of a bpftrace as soon as it is known, before the rest of the machine is. */
type Ahead = (means: Pick<Means, "spawn" | "symbols">, bpftrace: Bpftrace) => void;

/** The real world. */
export async function readMeans(bpftrace: string | undefined, ahead?: Ahead): Promise<Means> {
  const files = new ReaderFiles();
  const own = { spawn: spawnChild, symbols: new SymbolTables() };
  const onBpftrace = ahead && ((found: Bpftrace) => ahead(own, found));
  const options = { pid: process.pid, bpftrace, path: Deno.env.get("PATH"), remember: "use", onBpftrace } as const;
  const machine = await readCapabilities(files, options).catch((error) => {
    own.symbols.remove();
    throw error;
  });
  return {
    files,
    machine,
    ...own,
    // Unreferenced: a deadline that nobody waits for any more must not keep the process alive.
    sleep: (milliseconds) => new Promise((resolve) => Deno.unrefTimer(setTimeout(resolve, milliseconds))),
    monotonic: () => performance.now(),
    origin: performance.timeOrigin,
    self: process.pid,
  };
}

/** Throws why this machine cannot trace. Comes after what may be wrong with the command line: that can be mended at once. */
export function mustTrace({ machine }: Means, context: Context): void {
  const [problem] = preflight(machine, context.argv);
  if (problem) throw problem;
}

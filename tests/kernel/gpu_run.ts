import { join } from "node:path";

/** A call as a stand-in library wrote it into its book. */
export interface Noted {
  readonly library: string;
  readonly pid: number;
  readonly tid: number;
  readonly func: string;
  readonly ret: number;
  readonly [word: string]: string | number;
}

/** Values of a file that has one in each line. */
export function linesOf(path: string): string[] {
  return Deno.readTextFileSync(path).trimEnd().split("\n").filter((line) => line !== "");
}

/** The books of all libraries and processes: see tests/workloads/gpu/log.h. */
export function readBooks(folder: string): Noted[] {
  const books = [...Deno.readDirSync(folder)].flatMap(({ name }) => {
    const [, library, pid] = /^book\.(\w+)\.(\d+)$/.exec(name) ?? [];
    return library === undefined ? [] : [{ name, library, pid: Number(pid) }];
  });
  return books.flatMap(({ name, library, pid }) => linesOf(join(folder, name)).map((line) => ({ library, pid, ...JSON.parse(line) })));
}

/** Calls of the runtime that ask the driver for the same: see workloads/gpu/cudart.c. */
const TWINS = /^cuda(?:Malloc|MallocAsync|Free|FreeAsync|LaunchKernelExC|Stream(?:Begin|End)Capture|GraphInstantiate|GraphLaunch)$/;

/** What was asked for, once each: without these twins. */
export function asked(noted: readonly Noted[]): Noted[] {
  return noted.filter(({ func }) => !TWINS.test(func));
}

/** A call as a trace has it. */
export interface Told {
  readonly pid: number;
  readonly tid: number;
  readonly func: string;
  readonly start: bigint;
  readonly args: Readonly<Record<string, string | number | boolean>>;
}

/** Calls of a family in a trace (`.jsonl`), in the order in which they began. */
export function toldCalls(path: string, family: string): Told[] {
  return linesOf(path).map((line) => JSON.parse(line)).filter(({ type, category }) => type === "slice" && category === `gpu.${family}`)
    .map(({ name, start, args = {}, track: { pid, tid } }) => ({ pid, tid, func: name, start: BigInt(start), args }))
    .sort((a, b) => a.start < b.start ? -1 : a.start > b.start ? 1 : 0);
}

/** How often streams were given something in a trace (`.jsonl`), as {@link givenBy} says it. */
export function toldStreams(path: string): string[] {
  const tracks = linesOf(path).map((line) => JSON.parse(line)).filter(({ category }) => category === "gpu.stream").map(({ track }) => track);
  return counted(tracks.map(({ pid, name }) => ({ pid, name: name.replace(/^GPU .*(default stream(?: of thread)?).*/, "$1") })));
}

/** Streams that have no handle. */
const UNNAMED: Readonly<Record<string, string>> = { "0x0": "default stream", "0x1": "default stream", "0x2": "default stream of thread" };

/**
 * The same by the books: each stream of each process, without whose it is, because processes in a container have other numbers there. Those without a
 * handle are taken together, of all threads and contexts.
 */
export function givenBy(noted: readonly Noted[]): string[] {
  const recorded = new Set<string>();
  return counted(
    // Lists of commands are no streams.
    asked(noted).filter(({ library }) => library !== "levelzero").flatMap(({ pid, func, stream }) => {
      const name = UNNAMED[String(stream)] ?? `stream ${stream}`, row = `${pid} ${name}`;
      if (func === "cuStreamBeginCapture") recorded.add(row);
      if (func === "cuStreamEndCapture") recorded.delete(row);
      return stream !== undefined && /Launch|Memcpy|Memset|Prefetch|^nccl/.test(func) && !recorded.has(row) ? [{ pid, name }] : [];
    }),
  );
}

function counted(rows: readonly { readonly pid: number; readonly name: string }[]): string[] {
  return [...Map.groupBy(rows, ({ pid, name }) => `${pid} ${name}`).values()].map((given) => `${given[0]!.name}: ${given.length}`).sort();
}

/** Allocations and frees by kind of memory, reckoned from the books alone: an address, or a handle, is given out once in a process. */
export function heldBy(noted: readonly Noted[]) {
  const kinds = new Map<string, { allocations: number; bytes: number; frees: number; freed: number }>();
  const done = asked(noted).filter(({ ret }) => ret === 0);
  const keyOf = ({ pid, func, address }: Noted) => `${pid} ${/Create|Release|MemDestroy/.test(func) ? "handle" : "address"} ${address}`;
  const freed = new Set(done.filter(({ func }) => /Free|Release|Unregister|MemDestroy/.test(func)).map(keyOf));
  for (const call of done.filter(({ memory }) => memory !== undefined)) {
    const memory = String(call.memory), bytes = Number(call.bytes), isFreed = freed.has(keyOf(call));
    const sums = kinds.get(memory) ?? { allocations: 0, bytes: 0, frees: 0, freed: 0 };
    kinds.set(memory, {
      allocations: sums.allocations + 1,
      bytes: sums.bytes + bytes,
      frees: sums.frees + (isFreed ? 1 : 0),
      freed: sums.freed + (isFreed ? bytes : 0),
    });
  }
  return kinds;
}

/** Times that something was done, and its bytes. */
export interface Moved {
  readonly times: number;
  readonly bytes: number;
}

/** Of calls that copy in this direction. */
export function copiedBy(calls: readonly Told[], direction: string): Moved {
  const copies = calls.filter(({ args }) => args.direction === direction);
  return { times: copies.length, bytes: copies.reduce((sum, { args }) => sum + Number(args.bytes), 0) };
}

/** A kernel without its template arguments, which are spelled in several ways. */
export function shortKernel(name: string): string {
  return name.replace(/^void /, "").replace(/[<(](?!anonymous).*$/, "");
}

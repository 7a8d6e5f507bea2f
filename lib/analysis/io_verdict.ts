import { quantity } from "../events/quantity.ts";
import { counted, nameAlone } from "../events/text.ts";
import type { Limits, ReadLimit } from "../events/surroundings.ts";
import { isWeights } from "../target/inference_files.ts";
import { atOnceFlags, mappingFlags } from "./engine_flags.ts";
import { areFetchedByOthers } from "./fetched.ts";
import { mebibytes } from "./figures.ts";
import type { IoResult } from "./io_schema.ts";
import { byMemory, bySwap, type Cause, longest, slowedBy, slowedOf } from "./verdict.ts";

type Verdict = IoResult["verdict"][number];
type File = IoResult["files"][number];
type Device = IoResult["devices"][number];

/** As a sentence says it, before what it is of. */
export const WAITS: Readonly<Record<Verdict["wait"], string>> = {
  "reads": "reads of",
  "mappings": "calls that fill mappings of",
  "page faults": "page faults in",
  "swap": "memory that comes back from",
  "queue": "the queue of",
};

/**
 * What was waited for longest, with what shows it and what to try. Times of threads are added, so that several can wait for more than the time watched;
 * of a queue it is the time in which any request stood in it. `nameOf`: of disks, by their numbers.
 */
export function ioVerdict(
  result: Omit<IoResult, "verdict">,
  nameOf: (device: string) => string,
): Verdict[] {
  const { files, devices, windows, memoryCalls, memory, limits } = result;
  const source = areFetchedByOthers(result) ? OTHERS : DISK;
  const limited = limits?.reads ?? [];
  const slowed = (bytes: number, ns: number) => slowedOf(limited.filter((limit) => mayMeet(limit, bytes, ns)), nameOf);
  const all = memoryCalls.filter(({ kind }) => kind === "mlockall").map(({ kind, calls, ns }) => {
    const cold = files.reduce((sum, file) => sum + coldOf(file), 0);
    return { of: "all its files", calls: [{ call: kind, calls }], ns, bytes: memory?.lockedBytes ?? 0, cold, unreturned: 0 };
  });
  return longest([
    ...files.map((file) => reads(file, source, slowed(broughtBy(file) || file.readBytes, file.readingNs))),
    ...[...files.map(filledOf), ...all].map((fill) => filled(fill, source, limits, slowed(fill.cold, fill.ns))),
    ...files.map((file) => faults(file, source, limits, slowedOf(limited, nameOf))),
    ...swapped(result),
    ...devices.map(queued),
  ], windows.ns);
}

/** Much faster than a limit allows is from elsewhere. (Whose requests are held back is not seen: threads of the kernel make them later.) */
const FASTER = 2;

function mayMeet({ bytes: allowed }: ReadLimit, bytes: number, ns: number): boolean {
  return allowed === null || bytes <= FASTER * allowed * ns / 1e9;
}

/** Who brings what a file has not in memory: what is said of it, and what would be faster. */
interface Source {
  readonly brought: string;
  readonly waited: string;
  readonly faster: string;
}

const DISK: Source = { brought: "from the disk", waited: "the disk", faster: "A faster disk, more read ahead (blockdev --setra)" };

const OTHERS: Source = {
  brought: "from elsewhere (a network, a user's file system, by threads of the kernel)",
  waited: "what came from elsewhere (a network, a user's file system, by threads of the kernel)",
  faster: "If it is on no disk of this machine, a copy there",
};

/** (Threads of the kernel ask the disk for who is held back by a limit, too.) */
function sourceOf(source: Source, slowed: Cause | null): Source {
  return slowed ? DISK : source;
}

/** One that has not returned has read what has come by then. */
function ofReads({ cachedBytes, unreturned }: File, bytes: number): number {
  return unreturned > 0 ? Math.max(bytes, cachedBytes ?? 0) : bytes;
}

/** Bytes that reads of it brought: what a mapping of it brought is no part of what was read. */
function broughtBy(file: File): number {
  return Math.min(file.cachedBytes ?? 0, ofReads(file, file.readBytes));
}

function reads(file: File, source: Source, slowed: Cause | null): Omit<Verdict, "share"> {
  const { reads, readNs, readingNs, cachedBytes, mappedBytes, unreturned } = file;
  const readBytes = ofReads(file, file.readBytes), cold = broughtBy(file);
  // What several processes read, each for itself, comes once.
  const once = ofReads(file, file.readOnceBytes);
  // A limit holds back what was brought. Of what is read past the page cache nothing is seen to come.
  const heldBack = cold === 0 || cold >= 0.5 * once ? slowed : null, { brought, faster } = sourceOf(source, heldBack);
  const rate = readingNs > 0 ? ` at ${Math.round((readBytes * 1e3) / readingNs)} MB/s` : "";
  const evidence = `${counted(reads, "read")} of ${mebibytes(readBytes)}${rate}${
    cold > 0 ? `, ${mappedBytes > 0 ? "at most " : ""}${mebibytes(cold)} of it ${brought}` : ""
  }${notReturned(unreturned)}`;
  const advice = adviceFor(file.file, cachedBytes === null || once === 0 ? null : cold / once, faster);
  return { wait: "reads", of: file.file, ns: readNs, ...slowedBy(heldBack, { evidence, advice }) };
}

function notReturned(unreturned: number): string {
  return unreturned > 0 ? `; ${counted(unreturned, "call")} had not returned when counting ended` : "";
}

/** `cold`: which part of what was read came into the page cache, each byte once; null where none was seen to. */
function adviceFor(file: string, cold: number | null, faster: string): string {
  const again = isWeights(nameAlone(file)) ? "a second start finds it in memory" : "what is read twice is in memory the second time";
  if (cold !== null && cold >= 0.5) return `${faster}, or larger reads: ${again}, where there is enough.`;
  const seen = cold === null ? "Nothing" : "Little",
    flags = mappingFlags(nameAlone(file)),
    mapping = flags ? `a mapping (${flags})` : "a mapping";
  return `${seen} was seen to come through the page cache: what is in memory ${mapping} does not copy, what is read past the cache is read anew each time.`;
}

/** Calls that fill mappings; `bytes`: of all that is filled, `cold`: what of it had to be brought. */
interface Filled {
  readonly of: string;
  readonly calls: readonly { readonly call: string; readonly calls: number }[];
  readonly ns: number;
  readonly bytes: number;
  readonly cold: number;
  readonly unreturned: number;
}

function filledOf(file: File): Filled {
  const { fills } = file;
  const ns = fills.reduce((sum, { ns }) => sum + ns, 0), unreturned = fills.reduce((sum, { unreturned }) => sum + unreturned, 0);
  // What is mapped and then locked is the same, and so is what several processes map; pieces are added.
  const bytesOf = ({ call, bytes, calls }: File["fills"][number]) => call === "mmap" ? bytes / calls : bytes;
  return { of: file.file, calls: fills, ns, bytes: Math.max(0, ...fills.map(bytesOf)), cold: coldOf(file), unreturned };
}

/** Bytes that were brought for mappings of it: all but what its reads may have brought. */
function coldOf({ cachedBytes, readBytes }: File): number {
  return Math.max(0, (cachedBytes ?? 0) - readBytes);
}

/** Of what is filled: where less was brought, the time went into pages that were in memory. */
const COLD = 0.1;

function filled(
  { of, calls, ns, bytes, cold, unreturned }: Filled,
  source: Source,
  limits: Limits | null,
  slowed: Cause | null,
): Omit<Verdict, "share"> {
  const { brought, faster } = sourceOf(source, slowed);
  const isCold = cold > 0 && cold >= COLD * bytes;
  const kinds = calls.map(({ call, calls }) => `${call} × ${calls}`).join(", ");
  const evidence = `${kinds}, which brought at most ${mebibytes(cold)} ${brought}${notReturned(unreturned)}`;
  const fewer = isWeights(nameAlone(of)) ? "fewer bytes (a smaller quantisation)" : "fewer bytes";
  const advice = `${faster}, or ${fewer}: a second start finds it in memory, where there is enough.`;
  return { wait: "mappings", of, ns: isCold ? ns : 0, ...slowedBy(slowed, byMemory(limits, { evidence, advice })) };
}

function faults(
  { file, faults, major, majorNs }: File,
  source: Source,
  limits: Limits | null,
  slowed: Cause | null,
): Omit<Verdict, "share"> {
  const evidence = `${major} of ${counted(faults, "page fault")} waited for ${sourceOf(source, slowed).waited}`;
  const flags = atOnceFlags(nameAlone(file));
  const advice = flags
    ? `${flags} reads it at once, where memory is enough, and more memory keeps it.`
    : "More memory keeps it, and a second start finds it there.";
  return { wait: "page faults", of: file, ns: majorNs, ...slowedBy(slowed, byMemory(limits, { evidence, advice })) };
}

/** Page faults that waited, and in no file. */
function swapped({ threads, files, ...surroundings }: Omit<IoResult, "verdict">): Omit<Verdict, "share">[] {
  const cause = bySwap(surroundings, 1);
  if (!cause) return [];
  const sum = (rows: readonly Pick<File, "major" | "majorNs">[], of: "major" | "majorNs") => rows.reduce((all, row) => all + row[of], 0);
  const major = sum(threads, "major") - sum(files, "major"), ns = sum(threads, "majorNs") - sum(files, "majorNs");
  return [{ wait: "swap", of: "swap", ns, ...cause, evidence: `${counted(major, "page fault")} waited for it; ${cause.evidence}` }];
}

/** Where most requests wait longer before the device takes them than in it: who fills a page cache may hold a few back for itself. */
function queued({ device, name, what, requests, meanInFlight, queuedNs, queue, service }: Device): Omit<Verdict, "share"> {
  const waits = queue.p50Ns > service.p50Ns && queue.totalNs > service.totalNs;
  const evidence = `${counted(requests, what)}, half of them at most ${quantity(queue.p50Ns, "ns")} in the queue and ${
    quantity(service.p50Ns, "ns")
  } in the device, ${meanInFlight.toFixed(1)} at once`;
  return {
    wait: "queue",
    of: name ?? device,
    ns: waits ? queuedNs : 0,
    evidence,
    advice: "It is asked for more at once than it takes: fewer and larger requests, or a faster disk.",
  };
}

import type { Limits, ReadLimit } from "../events/surroundings.ts";
import { counted } from "../events/text.ts";
import { CONTEXT, LOCKED, MAPPED } from "./engine_flags.ts";
import { mebibytes } from "./figures.ts";
import type { SurroundingsResult } from "./surroundings_schema.ts";

/** What takes less of the time does not matter. */
const MATTERS = 0.01;
const MOST = 3;

/** The longest of these waits, each with its share of `all` nanoseconds. */
export function longest<Wait extends { readonly ns: number }>(waits: readonly Wait[], all: number): (Wait & { readonly share: number })[] {
  return waits.map((wait) => ({ ...wait, share: all > 0 ? wait.ns / all : 0 }))
    .filter(({ share }) => share >= MATTERS).sort((a, b) => b.ns - a.ns).slice(0, MOST);
}

/** Where a group may read no more than so much of a disk in a second, a wait for that disk may be its doing. Null where none of these has such a limit. */
export function slowedOf(reads: readonly ReadLimit[], nameOf: (device: string) => string): Cause | null {
  if (reads.length === 0) return null;
  const slow = reads.map(({ device, bytes, requests }) => {
    const most = [...bytes === null ? [] : [mebibytes(bytes)], ...requests === null ? [] : [counted(requests, "request")]].join(" or ");
    return `${most} a second from ${nameOf(device)}`;
  });
  return {
    evidence: `its control group allows ${slow.join(", ")}`,
    advice: "If it reads from there, raise the disk's limit first (io.max, blkio.throttle, --device-read-bps of a container).",
  };
}

/** What shows the cause of a wait, and what to try. */
export interface Cause {
  readonly evidence: string;
  readonly advice: string;
}

/** A limit of memory, and who says so. */
interface Allowed {
  readonly bytes: number;
  readonly by: string;
}

const HIGH = "memory.high, MemoryHigh= of a service";

/** What a target may have of memory: the narrower of the limit at which it is held back and that at which it is killed. Null: all there is. */
export function memoryAllowed(limits: Limits | null): Allowed | null {
  const { memoryLimit = null, memoryHigh = Infinity } = limits ?? {};
  if (memoryHigh < (memoryLimit ?? Infinity)) return { bytes: memoryHigh, by: HIGH };
  return memoryLimit === null ? null : { bytes: memoryLimit, by: "memory.max, --memory of a container" };
}

function limitOf({ by }: Allowed): string {
  return `that limit (${by}), or need less memory.`;
}

/** Who asks for memory where a group has more than that sleeps in the kernel: a wait there may be its doing. Null where nobody had to. */
export function heldBack(limits: Limits | null): Cause | null {
  const { memoryHigh, heldBack = 0 } = limits ?? {};
  if (memoryHigh === undefined || heldBack === 0) return null;
  return {
    evidence: `its control group had more than the ${mebibytes(memoryHigh)} of memory.high, and was held back ${counted(heldBack, "time")}`,
    advice: `If it sleeps for memory, raise that limit first (${HIGH}).`,
  };
}

/** Of a group's limit: the kernel takes back what it can before it is reached. */
const FULL = 0.9;
/** Of it, what was read again: less is anybody's. */
const AGAIN = 0.01;

/**
 * A wait for a disk by memory that is used up, where that is its cause. What is read from a disk fills all memory that is allowed: whether there is too little
 * shows in what had to be read again alone. Where nobody counts that, the limit stands beside what else to try.
 */
export function byMemory(limits: Limits | null, own: Cause): Cause {
  const { memoryBytes = null, refaultedBytes } = limits ?? {}, allowed = memoryAllowed(limits);
  if (allowed === null || memoryBytes === null || memoryBytes < FULL * allowed.bytes) return own;
  const evidence = `${own.evidence}; ${mebibytes(memoryBytes)} of the ${mebibytes(allowed.bytes)} that its control group allows are used`;
  if (refaultedBytes === undefined) return { evidence, advice: `${own.advice} If it reads the same again and again: raise ${limitOf(allowed)}` };
  if (refaultedBytes < AGAIN * allowed.bytes) return own;
  return { evidence: `${evidence}, and ${mebibytes(refaultedBytes)} of files had to be read again`, advice: `Raise ${limitOf(allowed)}` };
}

/** Of what is in memory: so much swapped out is waited for. */
const OUT = 0.01;

/**
 * Why memory that is no file's is waited for: to read weights at once, as helps where these are, needs more of what there is too little of. Null where none
 * of the target's was seen swapped out, or fewer than so many `pages` came back, of anybody's.
 */
export function bySwap({ memory, limits }: Pick<SurroundingsResult, "memory" | "limits">, pages: number): Cause | null {
  if (memory === null || memory.swappedInPages < pages) return null;
  const { residentBytes, swappedBytes, swappedInPages } = memory, allowed = memoryAllowed(limits);
  // What a target has had out for days is not what comes back now.
  if (swappedBytes <= OUT * residentBytes) return null;
  const back = `${counted(swappedInPages, "page")} of all processes came back from swap, where ${mebibytes(swappedBytes)} of its memory were`;
  // What a group uses at the end is nothing, where its processes have ended.
  const limit = allowed !== null && residentBytes + swappedBytes > allowed.bytes ? allowed : null;
  return {
    evidence: limit ? `${back}; its control group allows ${mebibytes(limit.bytes)}` : back,
    advice:
      `${limit ? `Raise ${limitOf(limit)}` : "It has less memory than it needs: end other processes."} A smaller context (${CONTEXT}) or model ` +
      `needs less, what is mapped (${MAPPED}) needs no swap, and what is locked (${LOCKED}) stays, where it fits.`,
  };
}

/** A wait with a limit that may be the cause of it, beside what else to try. */
export function slowedBy(slowed: Cause | null, { evidence, advice }: Cause): Cause {
  return slowed ? { evidence: `${evidence}; ${slowed.evidence}`, advice: `${advice} ${slowed.advice}` } : { evidence, advice };
}

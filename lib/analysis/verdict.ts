import type { Limits, ReadLimit } from "../events/surroundings.ts";
import { counted } from "../events/text.ts";
import { mebibytes } from "./figures.ts";

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

/** Of a group's limit: the kernel takes back what it can before it is reached. */
const FULL = 0.9;

/** What shows the cause of a wait, and what to try. */
export interface Cause {
  readonly evidence: string;
  readonly advice: string;
}

/** Where a group's memory is used up, waits for the disk are longer. Null where it is not. */
export function fullOf(limits: Limits | null): Cause | null {
  const { memoryLimit = null, memoryBytes = null } = limits ?? {};
  if (memoryLimit === null || memoryBytes === null || memoryBytes < FULL * memoryLimit) return null;
  return {
    evidence: `${mebibytes(memoryBytes)} of the ${mebibytes(memoryLimit)} that its control group allows are used`,
    advice: "Raise that limit (memory.max, --memory of a container), or need less memory.",
  };
}

/** Reads from a disk fill all memory that there is: whether that is why they are waited for shows in what is read again alone. */
export function perhapsBy(full: Cause | null, own: Cause): Cause {
  if (!full) return own;
  const advice = `${full.advice[0]!.toLowerCase()}${full.advice.slice(1)}`;
  return { evidence: `${own.evidence}; ${full.evidence}`, advice: `${own.advice} If it reads the same again and again: ${advice}` };
}

/** A wait for a disk with what may be the cause of it: memory that is used up takes the place of what else to try, a limit of the disk stands beside it. */
export function causedBy(full: Cause | null, slowed: Cause | null, { evidence, advice }: Cause): Cause {
  return {
    evidence: [evidence, ...full ? [full.evidence] : [], ...slowed ? [slowed.evidence] : []].join("; "),
    advice: [full?.advice ?? advice, ...slowed ? [slowed.advice] : []].join(" "),
  };
}

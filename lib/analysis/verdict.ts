import type { Limits } from "../events/surroundings.ts";
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

/** Where a group may read no more than so much of a disk in a second. `nameOf`: of those disks that matter. Null where none has such a limit. */
export function slowedOf(limits: Limits | null, nameOf: (device: string) => string | undefined): Cause | null {
  const slow = (limits?.reads ?? []).flatMap(({ device, bytes, requests }) => {
    const name = nameOf(device);
    const most = [...bytes === null ? [] : [mebibytes(bytes)], ...requests === null ? [] : [counted(requests, "request")]].join(" or ");
    return name === undefined ? [] : [`${most} a second from ${name}`];
  });
  if (slow.length === 0) return null;
  return {
    evidence: `its control group allows ${slow.join(", ")}`,
    advice: "If it reads from there: raise that limit (io.max, blkio.throttle, --device-read-bps of a container), or read less.",
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

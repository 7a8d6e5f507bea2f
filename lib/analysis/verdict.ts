import type { Limits } from "../events/surroundings.ts";
import { mebibytes } from "./figures.ts";

/** What takes less of the time does not matter. */
const MATTERS = 0.01;
const MOST = 3;

/** The longest of these waits, each with its share of `all` nanoseconds. */
export function longest<Wait extends { readonly ns: number }>(waits: readonly Wait[], all: number): (Wait & { readonly share: number })[] {
  return waits.map((wait) => ({ ...wait, share: all > 0 ? wait.ns / all : 0 }))
    .filter(({ share }) => share >= MATTERS).sort((a, b) => b.ns - a.ns).slice(0, MOST);
}

/** Of a group's limit: the kernel takes back what it can before it is reached. */
const FULL = 0.9;

/** Where a group's memory is used up, waits for the disk are longer: what shows it, and what to try. Null where it is not. */
export function fullOf(limits: Limits | null): { readonly evidence: string; readonly advice: string } | null {
  const { memoryLimit = null, memoryBytes = null } = limits ?? {};
  if (memoryLimit === null || memoryBytes === null || memoryBytes < FULL * memoryLimit) return null;
  return {
    evidence: `${mebibytes(memoryBytes)} of the ${mebibytes(memoryLimit)} that its control group allows are used`,
    advice: "Raise that limit (memory.max, --memory of a container), or need less memory.",
  };
}

import type { Activity } from "./activity.ts";
import type { ColdstartKind } from "./coldstart_schema.ts";

/**
 * What explains an instant best when several things happen at once: the more specific wins. `memory` is last: allocations go on in the
 * background of everything.
 */
const RANK: Readonly<Record<ColdstartKind, number>> = {
  lock: 100,
  read: 90,
  fault: 90,
  map: 90,
  open: 80,
  library: 70,
  sample: 60,
  decode: 50,
  encode: 50,
  gpu: 45,
  context: 40,
  load: 30,
  listen: 20,
  memory: 10,
  unexplained: 0,
};

/** Faults are seen when they begin, and until the next one the process may well compute: fewer than this in a millisecond explain nothing. */
const DENSE_FAULTS_PER_NS = 100 / 1e6;

/** The larger, the more specific; 0: explains nothing. */
export function rank({ kind, family, faults, majorNs, start, end }: Activity): number {
  const isDense = faults >= (end - start) * DENSE_FAULTS_PER_NS;
  // Code that faults in while it runs says less than its load and more than the call that runs it.
  if (family === "code fault") return isDense || majorNs * 2 > end - start ? 65 : 0;
  if (family === "memory" && !isDense) return 0;
  return RANK[kind];
}

/** Of two activities that join, the phase takes the kind that says more: an open that is read from is a read, a mapping that is touched a fault. */
const SAYS_MORE: readonly ColdstartKind[] = ["library", "fault", "read", "map", "open"];

export function moreTelling(a: ColdstartKind, b: ColdstartKind): ColdstartKind {
  return SAYS_MORE.find((kind) => kind === a || kind === b) ?? a;
}

/** Their bytes are those of a file's mapping, whatever is touched of it. */
export const OF_MAPPINGS: ReadonlySet<ColdstartKind> = new Set(["map", "fault", "library"]);

/** Bytes of two parts of what is done to one file: a library is mapped as a whole and then piece by piece over it, weights by each who loads them. */
export function bytesTogether(kind: ColdstartKind, a: number, b: number): number {
  return OF_MAPPINGS.has(kind) ? Math.max(a, b) : a + b;
}

/** In the words of someone who serves models. */
export function phaseName({ kind, family, file, files }: Activity): string {
  const what = file ?? (files > 1 ? `${files} files` : "a file");
  switch (kind) {
    case "lock":
      return "mlock";
    case "read":
      return `read ${what}`;
    case "fault":
      return `fault in ${what}`;
    case "map":
      return `map ${what}`;
    case "open":
      return `open ${what}`;
    case "library":
      return `load ${file ?? `${files} libraries`}`;
    case "sample":
      return "sampling";
    case "decode":
      return family === "generation" || family === "warm-up" ? family : family === "decode prefill" ? "prefill" : "llama_decode";
    case "encode":
      return "llama_encode";
    case "context":
      return "create context";
    case "load":
      return "model load";
    case "gpu":
      return family;
    case "listen":
      return "listen";
    case "memory":
      return family === "memory" ? "fault in memory" : "populate memory";
    case "unexplained":
      return "unexplained";
  }
}

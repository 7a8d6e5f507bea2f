import { built } from "../setup/programs.ts";

/** The phases that planted.c knows. */
const plantedPhases = ["read", "map", "lock", "listen", "sleep", "load"] as const;
export type PlantedPhase = (typeof plantedPhases)[number];

/** Sizes that no other phase has, so that a number found in a trace can only come from here. */
export const plantedMib = { read: 97, map: 61, lock: 17 } as const;

/** Calls of llama_decode in the phase `load`; the first takes 23 tokens, every other 1. */
export const plantedCalls = 97;

export interface PlantedOptions {
  readonly log: string;
  readonly phases: readonly PlantedPhase[];
  readonly readFile?: string;
  readonly mapFile?: string;
  readonly waitFile?: string;
  readonly library?: string;
  readonly calls?: number;
}

/** One line of the log; moments are CLOCK_BOOTTIME in nanoseconds. */
export interface PlantedLine {
  readonly phase: PlantedPhase | "main" | "exit";
  readonly start: bigint;
  readonly end: bigint;
  /** `main`: the process. */
  readonly pid?: number;
  readonly bytes?: number;
  /** `lock`: why mlock was refused, or 0. */
  readonly errno?: number;
  readonly port?: number;
  /** `listen`: connections. */
  readonly accepted?: number;
  /** `load`: when dlopen had returned; the calls follow at once. */
  readonly loaded?: bigint;
  readonly calls?: number;
  /** `load`: tokens in all the batches. */
  readonly tokens?: number;
}

/** The command line of a target with planted phases. */
export function plantedCommand(
  { log, phases, readFile, mapFile, waitFile, library = built.libllamaStub, calls = plantedCalls }: PlantedOptions,
): string[] {
  const files = { "--read-file": readFile, "--map-file": mapFile, "--wait-file": waitFile };
  const flags = Object.entries(files).flatMap(([flag, path]) => path === undefined ? [] : [flag, path]);
  return [built.planted, "--log", log, "--library", library, "--calls", String(calls), ...flags, ...phases];
}

/** Writes a file of so many MiB that no file system can store as a hole. */
export function plantFile(path: string, mib: number): void {
  const piece = new Uint8Array(1 << 20);
  crypto.getRandomValues(piece.subarray(0, 65_536));
  for (let at = 65_536; at < piece.length; at *= 2) piece.copyWithin(at, 0, at);
  using file = Deno.openSync(path, { write: true, create: true, truncate: true });
  for (let index = 0; index < mib; index++) {
    for (let at = 0; at < piece.length;) at += file.writeSync(piece.subarray(at));
  }
}

/** Reads the log of a target that has ended. */
export function parsePlantedLog(text: string): PlantedLine[] {
  return text.trimEnd().split("\n").map((line) => {
    const { start, end, loaded, ...rest } = JSON.parse(line);
    return { ...rest, start: BigInt(start), end: BigInt(end), ...(loaded === undefined ? {} : { loaded: BigInt(loaded) }) };
  });
}

/** The phases in random order; the same for the same numbers from `random`. */
export function shuffled(random: () => number): PlantedPhase[] {
  const phases: PlantedPhase[] = [...plantedPhases];
  for (let left = phases.length - 1; left > 0; left--) {
    const pick = random() % (left + 1);
    [phases[left], phases[pick]] = [phases[pick]!, phases[left]!];
  }
  return phases;
}

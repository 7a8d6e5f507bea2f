import { built } from "../setup/programs.ts";

/** The options of steady.c, which explains them. */
export interface SteadyOptions {
  readonly log: string;
  readonly waitFile?: string;
  readonly stopFile?: string;
  readonly threads?: number;
  readonly forks?: number;
  readonly calls?: number;
  readonly library?: string;
}

export function steadyCommand({ log, waitFile, stopFile, threads, forks, calls, library = built.libllamaQuick }: SteadyOptions): string[] {
  const flags = { "--wait-file": waitFile, "--stop-file": stopFile, "--threads": threads, "--forks": forks, "--calls": calls };
  const given = Object.entries(flags).flatMap(([flag, value]) => value === undefined ? [] : [flag, String(value)]);
  return [built.steady, "--log", log, "--library", library, ...given];
}

/** What the target itself says that it did. */
export interface SteadyLog {
  /** Calls in order; times are CLOCK_BOOTTIME. */
  readonly calls: readonly { readonly start: bigint; readonly end: bigint }[];
  /** How many calls it counted when it ended; undefined while it goes on, or when it was killed. */
  readonly done: number | undefined;
}

export function readSteadyLog(path: string): SteadyLog {
  const lines = Deno.readTextFileSync(path).split("\n").slice(0, -1);
  const end = lines.at(-1)?.startsWith("end ") ? Number(lines.pop()!.slice(4)) : undefined;
  const calls = lines.map((line) => {
    const [start, end] = line.split(" ");
    return { start: BigInt(start!), end: BigInt(end!) };
  });
  return { calls, done: end };
}

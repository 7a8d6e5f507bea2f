import { runChild, systemPath } from "./child.ts";
import type { KernelFiles } from "./files.ts";
import { isKernelAtLeast } from "./kernel_release.ts";
import { type SymbolTrial, trySymbolTables } from "./symbol_tables.ts";

/** Below, every program with `BEGIN` fails on the builds that distributions ship: bpftrace issue 2168, fixed in 0.16. */
export const oldestBpftrace = [0, 16] as const;

export interface BpftraceFeatures {
  /** It finds what llmprof names: a probe may stand at any instruction. */
  readonly symbols: boolean;
  /** … by patterns alone. */
  readonly patterns: boolean;
  /** `uprobe:lib:function+4` is accepted. */
  readonly offsets: boolean;
  /** `printf` goes through one ring buffer, whose reader may be paused. */
  readonly ringbuf: boolean;
  /** A wildcard becomes one link: it attaches and detaches at once. */
  readonly uprobeMulti: boolean;
  /** The kernel lets a program read what other processors have added to a sum of theirs. */
  readonly perCpuLookup: boolean;
  /** It takes the kernel's functions that may be traced from a list: where the kernel gives none, it finds no raw tracepoint otherwise. */
  readonly traceableList: boolean;
}

export interface Bpftrace {
  readonly path: string;
  readonly version: readonly [number, number, number];
  /** As it prints it: `bpftrace v0.17.0`. */
  readonly text: string;
  readonly features: BpftraceFeatures;
  /** What it says here in place of doing anything: 0.25, of a kernel without modules. */
  readonly fails?: string;
}

export const DEFAULT_BUFFER_PAGES = 4096;
export const MOST_BUFFER_PAGES = 1 << 20;

/** Only root is told features (a dry run needs no root), and 0.19 is the first that can have a ring buffer. */
export function hasRingBuffer({ features, version }: Bpftrace): boolean {
  return features.ringbuf || atLeast(version, 0, 19);
}

/**
 * Whether a probe stands at a raw tracepoint that llmprof names. Before 0.23 bpftrace ends at one, or a program there may write into the record of the one
 * that it interrupts; from 0.24 on it looks for the function behind it in a list that not every kernel gives, or not to everybody, unless it is given one.
 */
export function standsAtRawTracepoints({ version, features }: Bpftrace): boolean {
  return atLeast(version, 0, 23) && (features.traceableList || !atLeast(version, 0, 24));
}

/**
 * Whether a program can read what `sum()` has added. Each processor adds to a number of its own, and a program that reads them asks the kernel for those of
 * the others, which it answers since 5.19, or earlier where a distribution has taken that back.
 */
export function readsSums({ version, features }: Bpftrace, kernel: string): boolean {
  return atLeast(version, 0, 23) && (features.perCpuLookup || isKernelAtLeast(kernel, 5, 19));
}

/** `%rh`: bytes as hexadecimal numbers. Before, it is `%r`, which prints what it can of them as it is, and an `h`. */
export function printsHexadecimal({ version }: Bpftrace): boolean {
  return atLeast(version, 0, 17);
}

/** Before, a marker's seventh argument and those behind it are refused. */
export function handsOverMarkers({ version }: Bpftrace): boolean {
  return atLeast(version, 0, 27);
}

/** The first file of that name on `path` (colon-separated folders), or null. */
export async function findBpftrace(files: KernelFiles, path = systemPath, name = "bpftrace"): Promise<string | null> {
  const candidates = path.split(":").filter((dir) => dir.startsWith("/")).map((dir) => `${dir}/${name}`);
  const modes = await files.modes(candidates);
  return candidates.find((candidate) => ((modes.get(candidate) ?? 0) & 0o111) !== 0) ?? null;
}

/** What a bpftrace says of itself. */
export interface Answer {
  readonly bpftrace: Bpftrace;
  /** It came to the end of its features. */
  readonly isWhole: boolean;
}

/** Asks a bpftrace what it is; null when the file does not start or does not say a version. It answers root alone: without, no feature is known. */
export async function probeBpftrace(path: string): Promise<Answer | null> {
  const [version, info, help, trial] = await Promise.all([
    runChild({ program: path, args: ["--version"] }),
    runChild({ program: path, args: ["--info"] }),
    runChild({ program: path, args: ["--help"] }),
    trySymbolTables(path),
  ]);
  // 0.17 prints both on stderr, 0.23 on stdout.
  const bpftrace = parseBpftrace(path, version.stdout, info.stdout + info.stderr + help.stdout + help.stderr, trial.finds);
  const isWhole = info.code === 0;
  return bpftrace && { bpftrace: { ...bpftrace, ...isWhole && trial.error !== "" && { fails: trial.error } }, isWhole };
}

/**
 * `info`: what it says at `--info` and `--help`, the former in any of its layouts: one `name: yes` a line (to 0.21), or two in columns (from 0.22). A
 * version may carry what `git describe` and packagers add: `v0.24-rc0`, `v0.23.2-12-g1a2b-dirty`. `finds`: how it was seen to find what llmprof names.
 */
export function parseBpftrace(path: string, versionText: string, info: string, finds: SymbolTrial["finds"] = "none"): Bpftrace | null {
  const found = /^bpftrace v?(\d+)\.(\d+)(?:\.(\d+))?/m.exec(versionText);
  if (!found) return null;
  const version = [Number(found[1]), Number(found[2]), Number(found[3] ?? 0)] as const;
  const says = (name: string) => new RegExp(`(?:^|\\s)${name}: yes\\b`, "m").test(info);
  return {
    path,
    version,
    text: found.input.slice(found.index).split("\n")[0]!.trim(),
    features: {
      // Without one link for a pattern each of its names is looked for as a whole one.
      symbols: finds === "whole" || (finds === "patterns" && says("uprobe_multi")),
      patterns: finds === "patterns",
      // bpftrace disassembles with bfd to see that an offset is the start of an instruction. Without, it refuses (even a build that says
      // `unsafe uprobe: yes`, which means what `--unsafe` may do).
      offsets: says("bfd"),
      // From 0.25 on nothing works without a ring buffer, and `--info` no longer mentions it.
      ringbuf: says("ringbuf") || atLeast(version, 0, 25),
      uprobeMulti: says("uprobe_multi"),
      // Said from 0.23 on, the first that needs it.
      perCpuLookup: says("lookup_percpu_elem"),
      traceableList: info.includes("--traceable-functions "),
    },
  };
}

/** Whether `version` is at least `major.minor.patch`. */
export function atLeast(version: readonly [number, number, number], major: number, minor: number, patch = 0): boolean {
  const least = [major, minor, patch];
  const differs = version.findIndex((number, i) => number !== least[i]);
  return differs < 0 || version[differs]! > least[differs]!;
}

/** Whether it attaches to thousands of functions in a moment, and lets go of them as fast: by one link, to places that llmprof names. */
export function placesThousands({ features }: Bpftrace): boolean {
  return features.uprobeMulti && features.symbols;
}

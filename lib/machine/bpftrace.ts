import { runChild, systemPath } from "./child.ts";
import type { KernelFiles } from "./files.ts";

export interface BpftraceFeatures {
  /** `uprobe:lib:function+4` is accepted. */
  readonly offsets: boolean;
  /** `printf` goes through one ring buffer, whose reader may be paused. */
  readonly ringbuf: boolean;
  /** A wildcard becomes one link: it attaches and detaches at once. */
  readonly uprobeMulti: boolean;
}

export interface Bpftrace {
  readonly path: string;
  readonly version: readonly [number, number, number];
  /** As it prints it: `bpftrace v0.17.0`. */
  readonly text: string;
  readonly features: BpftraceFeatures;
}

/** The first `bpftrace` on `path` (colon-separated folders), or null. */
export async function findBpftrace(files: KernelFiles, path = systemPath): Promise<string | null> {
  const candidates = path.split(":").filter((dir) => dir.startsWith("/")).map((dir) => `${dir}/bpftrace`);
  const modes = await files.modes(candidates);
  return candidates.find((candidate) => ((modes.get(candidate) ?? 0) & 0o111) !== 0) ?? null;
}

/** Asks a bpftrace what it is; null when the file does not start or does not say a version. `--info` needs root: without, no feature is known. */
export async function probeBpftrace(path: string, signal?: AbortSignal): Promise<Bpftrace | null> {
  const [version, info] = await Promise.all([
    runChild({ program: path, args: ["--version"] }, signal),
    runChild({ program: path, args: ["--info"] }, signal),
  ]);
  // 0.17 prints `--info` on stderr, 0.23 on stdout.
  return parseBpftrace(path, version.stdout, info.stdout + info.stderr);
}

/** `info` in any of its layouts: one `name: yes` a line (0.17), or two in columns (0.23). */
export function parseBpftrace(path: string, versionText: string, info: string): Bpftrace | null {
  const found = /^bpftrace v(\d+)\.(\d+)(?:\.(\d+))?/m.exec(versionText);
  if (!found) return null;
  const says = (name: string) => new RegExp(`(?:^|\\s)${name}: yes\\b`, "m").test(info);
  return {
    path,
    version: [Number(found[1]), Number(found[2]), Number(found[3] ?? 0)],
    text: versionText.trim().split("\n")[0]!,
    features: {
      // bpftrace disassembles with bfd to see that an offset is the start of an instruction; an `unsafe uprobe` build does not look.
      offsets: says("bfd") || says("unsafe uprobe"),
      ringbuf: says("ringbuf"),
      uprobeMulti: says("uprobe_multi"),
    },
  };
}

/** Whether `version` is at least `major.minor`. */
export function atLeast(version: readonly [number, number, number], major: number, minor: number): boolean {
  return version[0] > major || (version[0] === major && version[1] >= minor);
}

import { ExitCode } from "../events/errors.ts";
import { allowMoreFiles } from "./needs/shell.ts";

/** What the system may refuse to whoever opens or writes files, as sentences. */
export interface SystemLimit {
  readonly why: string;
  /** What became of what was written before; empty where that is not the question. */
  readonly left: string;
  readonly next: string;
  readonly exitCode: ExitCode;
}

/** Of a disk. `first`: what helps beside another place. */
export function diskLimit(why: string, first: string, left = "What was written until then is kept."): SystemLimit {
  return { why, left, next: `${first} another place with -o PATH.`, exitCode: ExitCode.failed };
}

/** By the system's number and name for it. */
const LIMITS: readonly (readonly [number: number, name: string, limit: SystemLimit])[] = [
  [28, "ENOSPC", diskLimit("The disk is full.", "Make room, or choose")],
  [122, "EDQUOT", diskLimit("A quota of that disk is used up (see quota -s).", "Delete what is not needed there, or choose")],
  [27, "EFBIG", diskLimit("It is as long as a file may be there (see ulimit -f).", "Raise that limit, or choose")],
  [30, "EROFS", diskLimit("Nothing can be written to the disk any more: it has become read-only (see dmesg).", "Choose")],
  [5, "EIO", diskLimit("The disk, or what leads to it, has failed (see dmesg).", "Choose", "Of what was written until then parts may be missing.")],
  [24, "EMFILE", { why: "llmprof may have too few files open.", left: "", next: allowMoreFiles, exitCode: ExitCode.machine }],
];

/**
 * Null where it is something else that went wrong. Deno says `No space left on device (os error 28)`, and node's functions for some of them `ENOSPC: no
 * space left on device, write`; EDQUOT and EFBIG have no `code`.
 */
export function systemLimitOf(error: unknown): SystemLimit | null {
  const said = error instanceof Error ? error.message : String(error);
  return LIMITS.find(([number, name]) => said.includes(`(os error ${number})`) || said.startsWith(`${name}:`))?.[2] ?? null;
}

/** No more can be opened: of the file that was to be next this says nothing. */
export function lacksFiles(error: unknown): boolean {
  return systemLimitOf(error)?.exitCode === ExitCode.machine;
}

import type { IoResult } from "./io_schema.ts";
import { WAITS } from "./io_verdict.ts";
import type { Cause } from "./verdict.ts";

export type FileWait = IoResult["verdict"][number];

/**
 * What threads wait for in a system call, where io knows in which file they do. How long, sched says: a read takes longer than it waits, and a queue is of
 * requests, so that times of the two are not to be compared. Null where io knows of none.
 */
export function byFile(wait: string, call: string | null, inFiles: readonly FileWait[]): Cause | null {
  // Most time first.
  const kind = kindOf(wait, call ?? ""), file = inFiles.find(({ wait }) => wait === kind);
  return file ? { evidence: `longest for ${WAITS[file.wait]} ${file.of}, ${file.evidence}`, advice: file.advice } : null;
}

/** What io calls that, in such a system call. What is written, or asked for by others, is in no file's times. */
function kindOf(reason: string, call: string): FileWait["wait"] | undefined {
  if (reason === "page fault") return "page faults";
  if (reason !== "disk" && reason !== "file") return undefined;
  if (/^p?read(v2?|64)?$|^(sendfile|splice|copy_file_range)/.test(call)) return "reads";
  return /^(mmap|mlock|madvise)/.test(call) ? "mappings" : undefined;
}

import { basename } from "node:path";
import { quoted } from "./trace.ts";

/**
 * Where others compute with the same library, more would be told than the judge can take. `program`: its path, of a name that nobody else's has; all are told
 * of when absent.
 */
export function toldOnly(program: string | undefined): { readonly probe: string; readonly isTold: string } {
  if (program === undefined) return { probe: "", isTold: "1" };
  // 0.23 sees no text in this tracepoint's `filename`.
  const probe = `tracepoint:sched:sched_process_exec / comm == ${quoted(basename(program))} / { @own[pid] = 1; }\n`;
  return { probe, isTold: "@own[pid] == 1" };
}

import * as fs from "node:fs";
import { usage } from "../../events/errors.ts";
import type { Context } from "../terminal.ts";

/** Where a run writes: what `-o` says, nothing with `--no-output`, else `llmprof-operators-20260131-142233.pftrace` in the current folder. */
export function outputPaths(command: string, output: readonly string[] | false | undefined, { argv }: Context): readonly string[] {
  const end = argv.indexOf("--");
  const own = end < 0 ? argv : argv.slice(0, end);
  const named = own.map((word) => /^(?:-o|--output(?==|$))/.exec(word)?.[0]).find((option) => option !== undefined);
  if (own.includes("--no-output")) {
    if (named) throw usage(`${named} cannot be used with --no-output.`, "One asks for a file, the other for none.", "Leave one of them out.");
    return [];
  }
  if (Array.isArray(output)) return output;
  const stamp = new Date().toISOString().replace(/[-:]|\..*/g, "").replace("T", "-");
  // Another run may have begun in this second.
  for (let n = 1;; n++) {
    const path = `llmprof-${command}-${stamp}${n === 1 ? "" : `-${n}`}.pftrace`;
    if (!isThere(path)) return [path];
  }
}

/** Where Deno does not let it be asked, nothing can be written either, which is told later. */
function isThere(path: string): boolean {
  try {
    return fs.existsSync(path);
  } catch {
    return false;
  }
}

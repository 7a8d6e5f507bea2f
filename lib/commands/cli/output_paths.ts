import { usage } from "../../events/errors.ts";
import type { OutputPaths } from "../output_checks.ts";
import type { Context } from "../terminal.ts";

/** Where a run writes: what `-o` says, nothing with `--no-output`, else `llmprof-operators-20260131-142233.pftrace` in the current folder. */
export function outputPaths(command: string, output: readonly string[] | false | undefined, { argv }: Context): OutputPaths {
  const end = argv.indexOf("--");
  const own = end < 0 ? argv : argv.slice(0, end);
  const named = own.map((word) => /^(?:-o|--output(?==|$))/.exec(word)?.[0]).find((option) => option !== undefined);
  if (named && own.includes("--no-output")) {
    throw usage(`${named} cannot be used with --no-output.`, "One asks for a file, the other for none.", "Leave one of them out.");
  }
  if (output === false) return { outputs: [] };
  if (output !== undefined) return { outputs: output };
  const stamp = new Date().toISOString().replace(/[-:]|\..*/g, "").replace("T", "-");
  return { outputs: [`llmprof-${command}-${stamp}.pftrace`], isDefault: true };
}

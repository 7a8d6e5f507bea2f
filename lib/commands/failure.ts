import { ExitCode, LlmprofError } from "../events/errors.ts";
import { harmlessLines } from "../events/text.ts";
import { systemLimitOf } from "../machine/system_limits.ts";

export interface Failure {
  /** For standard error. */
  readonly text: string;
  readonly exitCode: number;
}

/** What a person reads when a command fails: what, why, what to type next. The stack is for `--verbose`. */
export function failure(error: unknown, verbose: boolean): Failure {
  const { text, exitCode } = worded(error, verbose);
  // Names and messages of other programs are in it.
  return { text: harmlessLines(text), exitCode };
}

function worded(error: unknown, verbose: boolean): Failure {
  const details = verbose ? stackOf(error) : "";
  if (error instanceof LlmprofError) return { text: `${error.what} ${error.why}\n${error.next}\n${details}`, exitCode: error.exitCode };
  const said = (error instanceof Error ? error.message : String(error)).trim().replace(/[.\s]*$/, ".");
  const limit = systemLimitOf(error);
  if (limit) return { text: `${limit.why} ${said}\n${[limit.left, limit.next].join(" ").trim()}\n${details}`, exitCode: limit.exitCode };
  const next = verbose
    ? "Please report it with the lines below."
    : "See where: the same command with --verbose. See what this machine lacks: llmprof doctor";
  return { text: `llmprof failed: ${said} That is a fault of llmprof's own.\n${next}\n${details}`, exitCode: ExitCode.failed };
}

function stackOf(error: unknown): string {
  let text = "";
  for (let at = error; at instanceof Error; at = at.cause) text += `${text === "" ? "" : "Caused by: "}${at.stack ?? at.message}\n`;
  return text;
}

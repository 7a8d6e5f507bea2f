import { ExitCode, LlmprofError } from "../events/errors.ts";

/** A running target was gone before anything of it was seen. */
export function targetEnded(pid: number, cause?: unknown): LlmprofError {
  const next = "Let llmprof start it: llmprof <command> -- program args…, or wait for the next one: --wait --comm NAME";
  return new LlmprofError(ExitCode.failed, `Process ${pid} ended while llmprof was attaching.`, "There is nothing left to trace.", next, { cause });
}

import { type Finished, run, type RunOptions } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";

/** Runs llmprof with the task's permissions. */
export function runLlmprof(args: readonly string[], options?: RunOptions): Promise<Finished> {
  return run([...llmprof, ...args], options);
}

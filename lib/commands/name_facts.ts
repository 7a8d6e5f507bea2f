import type { Fact } from "../events/fact.ts";
import type { KernelFiles } from "../machine/files.ts";
import { readThreadNames } from "../target/thread_names.ts";

/**
 * What these processes and their threads call themselves, as facts: who ends while llmprof watches tells it then, and who was there before and stays tells
 * nothing.
 */
export async function nameFacts(files: KernelFiles, pids: readonly number[]): Promise<Fact[]> {
  const names = await Promise.all(pids.map((pid) => readThreadNames(files, pid)));
  return names.flatMap((found) => found ? [{ fact: "names", ...found }] : []);
}

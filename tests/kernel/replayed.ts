import { mustRun } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import type { Temporary } from "../harness/temporary.ts";
import { outputPath } from "./live_run.ts";

/** Makes the files of a run again, from its recording alone, and says which of them differ from the run's own in any byte. */
export async function differingReplays(folder: Temporary, formats: readonly string[]): Promise<string[]> {
  const again = formats.map((format) => folder.file(`replay.${format}`));
  await mustRun([...llmprof, "export", outputPath(folder, "llmprof"), ...again.flatMap((path) => ["-o", path])], { timeoutMilliseconds: 120_000 });
  return formats.filter((format, index) => !equal(Deno.readFileSync(outputPath(folder, format)), Deno.readFileSync(again[index]!)));
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length > 0 && a.length === b.length && a.every((byte, index) => byte === b[index]);
}

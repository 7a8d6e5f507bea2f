/**
 * Starts one reader after another, as llmprof does, and lets itself be suspended meanwhile.
 *
 *     deno run -A reads_often.ts
 */
import { runReader, spawnChild } from "../../lib/machine/child.ts";
import { allowSuspension } from "../../lib/machine/suspension.ts";

allowSuspension(spawnChild);
for (let reads = 0;; reads++) {
  await runReader("cat", ["/proc/version"]);
  if (reads === 10) console.log("reads");
}

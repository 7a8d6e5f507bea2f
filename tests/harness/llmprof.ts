import { resolve } from "node:path";
import denoJson from "../../deno.json" with { type: "json" };
import { mustRun } from "./command.ts";
import { top } from "./places.ts";
import type { Temporary } from "./temporary.ts";

/** What is tested: the sources, or the file that LLMPROF_TEST_MAIN names, such as the bundle. */
const main = resolve(top, Deno.env.get("LLMPROF_TEST_MAIN") ?? "main.ts");

/** The command line that runs llmprof with exactly the permissions of the task and of the executable. */
export const llmprof: readonly string[] = commandLine(Deno.execPath(), main);

/** The same for any user: with a Deno and a bundle of the sources in a folder of the test's, because root's may be closed to others. */
export async function llmprofForAnybody(folder: Temporary): Promise<string[]> {
  const [deno, bundle] = [folder.file("deno"), folder.file("llmprof.js")];
  Deno.copyFileSync(Deno.execPath(), deno);
  Deno.chmodSync(deno, 0o755);
  if (main.endsWith(".js")) Deno.copyFileSync(main, bundle);
  else await mustRun([Deno.execPath(), "bundle", "--quiet", "--platform", "deno", "--output", bundle, main], { cwd: top });
  Deno.chmodSync(bundle, 0o644);
  return ["env", `DENO_DIR=${folder.file("cache")}`, ...commandLine(deno, bundle)];
}

/** The task's words, with this Deno and this main module. */
export function commandLine(deno: string, mainModule: string): string[] {
  return denoJson.tasks.llmprof.split(" ").map((word) => word === "deno" ? deno : word === "main.ts" ? mainModule : word);
}

import { dirname, join, resolve } from "node:path";
import denoJson from "../../deno.json" with { type: "json" };
import { permissions } from "../release/permissions.ts";
import { mustRun } from "./command.ts";
import { top } from "./places.ts";
import type { Temporary } from "./temporary.ts";

/** What is tested: the sources, or the module that LLMPROF_TEST_MAIN names, such as the first of the bundle. */
const main = resolve(top, Deno.env.get("LLMPROF_TEST_MAIN") ?? "main.ts");

/** The command line that runs llmprof with exactly the permissions of the task, or a bundle with those of the executable. */
export const llmprof: readonly string[] = commandLine(Deno.execPath(), main);

/** The same for any user: with a Deno and a bundle in a folder of the test's, because root's may be closed to others. */
export async function llmprofForAnybody(folder: Temporary): Promise<string[]> {
  const [deno, modules] = [folder.file("deno"), folder.file("modules")];
  Deno.copyFileSync(Deno.execPath(), deno);
  Deno.chmodSync(deno, 0o755);
  const words = denoJson.tasks.bundle.split(" ").slice(1).map((word) => word === "dist/modules" ? modules : word === "main.ts" ? main : word);
  await mustRun(main.endsWith(".js") ? ["cp", "-r", dirname(main), modules] : [Deno.execPath(), ...words], { cwd: top });
  await mustRun(["chmod", "-R", "a+rX", modules]);
  return ["env", `DENO_DIR=${folder.file("cache")}`, ...commandLine(deno, join(modules, "main.js"))];
}

/** The task's words, with this Deno and this main module; a bundle is run as the executable is. */
export function commandLine(deno: string, mainModule: string): string[] {
  if (mainModule.endsWith(".js")) return [deno, "run", ...permissions, mainModule];
  return denoJson.tasks.llmprof.split(" ").map((word) => word === "deno" ? deno : word === "main.ts" ? mainModule : word);
}

import { join } from "node:path";
import denoJson from "../../deno.json" with { type: "json" };
import { top } from "./places.ts";

/** The command line that runs llmprof from its sources, with exactly the permissions of the task and of the executable. */
export const llmprof: readonly string[] = denoJson.tasks.llmprof.split(" ").map((word) =>
  word === "deno" ? Deno.execPath() : word === "main.ts" ? join(top, word) : word
);

import { fileURLToPath } from "node:url";
import { ExitCode, LlmprofError } from "../events/errors.ts";
import { DEFAULT_BUFFER_PAGES } from "../machine/bpftrace.ts";
import { begin } from "./begin.ts";
import { demoProfile } from "./demo_profile.ts";
import type { OutputPaths } from "./output_checks.ts";
import { realThing } from "./real_thing.ts";
import type { Context } from "./terminal.ts";
import { trace } from "./trace.ts";

export interface LiveDemoOptions extends OutputPaths {
  readonly summary: "text" | "json";
  readonly bpftrace?: string;
  readonly quiet: boolean;
}

/** A real llama.cpp, started under the probes of both commands. */
export async function liveDemo(options: LiveDemoOptions, context: Context): Promise<number> {
  const [script, model] = ["tests/workloads/engine.mjs", ".cache/models/small.gguf"].map(inSources) as [string, string];
  for (const path of [script, model, inSources(".cache/engine/node_modules")]) mustExist(path);
  const program = ["node", script, model, "--prompt", "32", "--tokens", "24"];
  const how = { wait: false, tree: true, detail: "op", bufferPages: DEFAULT_BUFFER_PAGES, mute: true } as const;
  const all = { ...options, ...how, program };
  using begun = begin(demoProfile, all, context);
  if (!options.quiet) context.terminal.err(realThing);
  return await trace(demoProfile, all, context, begun);
}

/** Of the clone that this file is part of; in a compiled llmprof a path at which there is nothing. */
function inSources(path: string): string {
  const url = new URL(`../../${path}`, import.meta.url);
  return url.protocol === "file:" ? fileURLToPath(url) : path;
}

function mustExist(path: string): void {
  try {
    Deno.statSync(path);
  } catch (cause) {
    throw new LlmprofError(
      ExitCode.failed,
      "The demo's workload is not here.",
      `${path} is missing: it belongs to a clone of the sources, where the set-up makes it.`,
      "In a clone: deno task demo. From the recording, without a workload: llmprof demo",
      { cause },
    );
  }
}

import denoJson from "../../deno.json" with { type: "json" };

/** How the executable is run, and the bundle that goes into it: as the task, but what `deno run` is told to load later is there. */
export const permissions: readonly string[] = denoJson.tasks.llmprof.split(" ").slice(2, -1).filter((word) =>
  word !== "--unstable-lazy-dynamic-imports"
);

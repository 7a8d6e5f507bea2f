import type { OffsetParam } from "../../lib/programs/probe.ts";

/** Where the name is since November 2024, behind room for ten sources. */
const NEWEST = 256;

/** ggml_get_name(tensor) returns where in it its name is. */
const byName = (at: OffsetParam["at"]): OffsetParam => ({ type: "offset", getter: "ggml_get_name", beside: "libggml", at, usual: NEWEST });

/**
 * Where in a ggml_tensor its sources are, by where its name is: until November 2024 behind its gradient (264). Until June 2024 (288) it held how long it
 * took to compute, too; what was computed then had phases of its own and threads that took one another's part. ik_llama.cpp has kept the gradient, and has
 * room for six sources more (312). Where the name is further behind than any of these have it there is taken to be room for more sources; whether it is
 * that, or something else has been put in, their products tell (`fits` in tensor.ts).
 */
function sourcesBy(name: number): number | string {
  if (name === 288) return "this ggml computes each in phases, as all did before July 2024";
  if (name < NEWEST || name % 8 !== 0) {
    return `in a tensor of this ggml the name is ${name} bytes behind its beginning, as in none that llmprof knows`;
  }
  return name === 264 || name === 312 ? 160 : 152;
}

/** Where in a ggml_tensor its fields are. What lies behind the sources has one size in all: what a view shows, its offset, the data. */
export const tensorLayout = {
  sources: byName(sourcesBy),
  view: byName((name) => name - 24),
  data: byName((name) => name - 8),
  name: byName((name) => name),
} as const;

import type { OffsetParam } from "../../lib/programs/probe.ts";

/** ggml_get_name(tensor) returns where in it its name is. */
const by = (offsets: OffsetParam["by"]): OffsetParam => ({ type: "offset", getter: "ggml_get_name", beside: "libggml", by: offsets, usual: 256 });

/**
 * Where in a ggml_tensor its fields are, by where its name is: 256 since November 2024, when its gradient was taken out of it, and 264 before. Until June 2024
 * (288) it held how long it took to compute, too; what was computed then had phases of its own and threads that took one another's part. ik_llama.cpp has kept
 * the gradient, and has room for six sources more (312).
 */
export const tensorLayout = {
  sources: by({ 256: 152, 264: 160, 312: 160, 288: "this ggml computes each in phases, as all did before July 2024" }),
  view: by({ 256: 232, 264: 240, 288: 264, 312: 288 }),
  data: by({ 256: 248, 264: 256, 288: 280, 312: 304 }),
  name: by({ 256: 256, 264: 264, 288: 288, 312: 312 }),
} as const;

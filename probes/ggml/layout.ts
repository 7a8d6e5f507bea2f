import type { OffsetParam } from "../../lib/programs/probe.ts";

/** ggml_get_name(tensor) returns where in it its name is. */
const by = (offsets: OffsetParam["by"]): OffsetParam => ({ type: "offset", getter: "ggml_get_name", beside: "libggml", by: offsets, usual: 256 });

/**
 * Where in a ggml_tensor its sources are, by where its name is: 256 since November 2024, when its gradient was taken out of it, and 264 before. Until June
 * 2024 (288) it held how long it took to compute, too; what was computed then had phases of its own and threads that took one another's part. ik_llama.cpp
 * has kept the gradient, and has room for six sources more (312).
 */
const SOURCES = { 256: 152, 264: 160, 288: "this ggml computes each in phases, as all did before July 2024", 312: 160 } as const;

/** What lies so many bytes before the name in all of them. */
function before(bytes: number): OffsetParam {
  return by(Object.fromEntries(Object.keys(SOURCES).map((name) => [name, Number(name) - bytes])));
}

/** Where in a ggml_tensor its fields are. */
export const tensorLayout = { sources: by(SOURCES), view: before(24), data: before(8), name: before(0) } as const;

import type { KernelFiles } from "../machine/files.ts";
import { FilesOnce } from "../machine/files_once.ts";
import { readMapped } from "../programs/found_libraries.ts";
import { isGgml } from "../target/inference_files.ts";
import { readProcesses, treesOf } from "../target/process.ts";
import { libtorch } from "../../probes/torch/library.ts";

/** The engine of these processes, or of those that they have started: a launcher computes nothing itself. Where there are both, tokens are asked for. */
export async function engineOf(files: KernelFiles, pids: readonly number[], tree: boolean): Promise<"ggml" | "torch"> {
  const here = await mappedBy(files, pids);
  if (here === "ggml" || !tree) return here ?? "ggml";
  const below = treesOf(await readProcesses(files), pids).difference(new Set(pids));
  const there = await mappedBy(files, [...below]);
  return there === "ggml" ? "ggml" : here ?? there ?? "ggml";
}

async function mappedBy(files: KernelFiles, pids: readonly number[]): Promise<"ggml" | "torch" | null> {
  const once = new FilesOnce(files);
  const names = (await Promise.all(pids.map((pid) => readMapped(once, pid)))).flatMap(({ mapped }) => mapped.map(({ name }) => name));
  if (names.some(isGgml)) return "ggml";
  return names.some((name) => name.startsWith(libtorch.prefix)) ? "torch" : null;
}

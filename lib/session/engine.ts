import type { KernelFiles } from "../machine/files.ts";
import { FilesOnce } from "../machine/files_once.ts";
import { readMapped } from "../programs/found_libraries.ts";
import { readProcesses, treeOf } from "../target/process.ts";
import { libtorch } from "../../probes/torch/library.ts";

const GGML = ["libllama.", "libggml"];

/** The engine of these processes, or of those that they have started: a launcher computes nothing itself. One that has both is asked for its tokens. */
export async function engineOf(files: KernelFiles, pids: readonly number[], tree: boolean): Promise<"ggml" | "torch"> {
  const here = await mappedBy(files, pids);
  if (here || !tree) return here ?? "ggml";
  const processes = await readProcesses(files);
  return await mappedBy(files, pids.flatMap((pid) => treeOf(processes, pid)).filter((pid) => !pids.includes(pid))) ?? "ggml";
}

async function mappedBy(files: KernelFiles, pids: readonly number[]): Promise<"ggml" | "torch" | null> {
  const once = new FilesOnce(files);
  const names = (await Promise.all(pids.map((pid) => readMapped(once, pid)))).flatMap(({ mapped }) => mapped.map(({ name }) => name));
  if (names.some((name) => GGML.some((prefix) => name.startsWith(prefix)))) return "ggml";
  return names.some((name) => name.startsWith(libtorch.prefix)) ? "torch" : null;
}

import type { KernelFiles } from "../machine/files.ts";
import { ignoresHangup } from "../target/process.ts";
import type { Context } from "./terminal.ts";

/** From then on a signal is a normal end. Returns whether llmprof runs under `nohup`, which has to be asked before. */
export async function heedSignals(files: KernelFiles, context: Pick<Context, "heedSignals">): Promise<boolean> {
  const underNohup = await ignoresHangup(files, Deno.pid);
  context.heedSignals(underNohup);
  return underNohup;
}

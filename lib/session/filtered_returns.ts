import { ExitCode, LlmprofError } from "../events/errors.ts";
import type { Capabilities } from "../machine/capabilities.ts";
import type { KernelFiles } from "../machine/files.ts";
import { filtersReturns, hidesPoint, UNFILTERED_RETURNS } from "../machine/kernel_release.ts";

/** Before a return is watched in this process: throws where the kernel would end it there. */
export async function mustReturn(files: KernelFiles, { kernel, arch }: Pick<Capabilities, "kernel" | "arch">, pid: number): Promise<void> {
  if (!filtersReturns(kernel, arch)) return;
  const status = await files.text(`/proc/${pid}/status`);
  if (!/^Seccomp:\s*2$/m.test(status ?? "")) return;
  const unknown = hidesPoint(kernel);
  throw new LlmprofError(
    ExitCode.machine,
    `Process ${pid} has a filter of system calls (seccomp), and ${unknown ? "might" : "would"} not outlive being traced.`,
    unknown
      ? `Linux ${kernel} kills such a process at the first return that is watched, unless its distribution has mended that: its number does not say so.`
      : `Linux ${kernel} kills such a process at the first return that is watched, or fails its call.`,
    `Use ${UNFILTERED_RETURNS}`,
  );
}

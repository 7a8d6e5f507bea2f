import type { GpuCall } from "../events/gpu.ts";
import type { Slice } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import type { GpuResult } from "./gpu_schema.ts";

/** Of CUDA and HIP, by their documentation: "any further CUDA work will return the same error". */
export const LASTING: ReadonlySet<number | null> = new Set([226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 911]);
/** Of others, what says that the device is lost. */
const DEVICE_LOST: Readonly<Record<string, number>> = { vulkan: -4, levelzero: 0x70000001 };

interface First extends Omit<GpuResult["lost"][number], "atNs"> {
  readonly start: Ns;
  readonly end: Ns;
}

/** Calls that failed, and of them those that only repeat what another one had failed with. */
export class GpuErrors {
  readonly #errors = new Map<string, GpuResult["errors"][number]>();
  /** By process. */
  readonly #lost = new Map<number, First>();

  failed(slice: Slice, { family, result, failure }: GpuCall): void {
    const { name } = slice, key = `${name} ${failure}`, deviceLost = DEVICE_LOST[family];
    const isLasting = deviceLost === undefined ? LASTING.has(result) : result === deviceLost;
    let error = this.#errors.get(key);
    if (!error) this.#errors.set(key, error = { function: name, failure: failure!, times: 0, echoes: 0 });
    error.times++;
    if (isLasting && this.#isEcho(slice, failure!)) error.echoes++;
  }

  /** `begin`: when counting began. */
  result(begin: Ns): Pick<GpuResult, "errors" | "lost"> {
    const own = ({ times, echoes }: { readonly times: number; readonly echoes: number }) => times - echoes;
    return {
      errors: [...this.#errors.values()].sort((a, b) => own(b) - own(a) || b.times - a.times),
      lost: [...this.#lost.values()].sort((a, b) => a.end - b.end).map(({ start: _, end, ...first }) => ({ ...first, atNs: end - begin })),
    };
  }

  #isEcho({ name, track: { pid, tid = pid }, start, end }: Slice, failure: string): boolean {
    const first = this.#lost.get(pid);
    // The runtime's call ends behind the driver's, which it has made.
    const isFirst = first === undefined || (tid === first.tid && start <= first.start);
    if (isFirst) this.#lost.set(pid, { pid, tid, function: name, failure, start, end, echoes: first?.echoes ?? 0 });
    else first.echoes++;
    return !isFirst;
  }
}

import type { Fact } from "../events/fact.ts";
import { GpuReadings } from "../machine/gpu_readings.ts";
import type { Means } from "../session/means.ts";

/** What GPUs say of themselves, as facts. */
export class WatchedGpus {
  readonly #readings: GpuReadings;

  constructor({ files, spawn }: Means) {
    this.#readings = new GpuReadings(files, spawn, Deno.env.get("PATH") ?? "");
  }

  async facts(): Promise<Fact[]> {
    const gpus = await this.#readings.look();
    return gpus.length > 0 ? [{ fact: "gpus", gpus }] : [];
  }

  close(): void {
    this.#readings.close();
  }
}

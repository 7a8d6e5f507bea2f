import type { Counter, Instant } from "../events/span.ts";
import type { GpuResult } from "./gpu_schema.ts";

type Device = GpuResult["devices"][number];

/** Counters by their names in a trace, `GPU 0: busy`, and what they are here. */
const COUNTED: Readonly<Record<string, keyof Device>> = {
  busy: "busyPercent",
  "its memory busy": "memoryBusyPercent",
  "memory used": "memoryUsedBytes",
  clock: "clockMhz",
  power: "powerWatts",
  temperature: "temperatureCelsius",
};

interface Sums {
  readonly figures: Map<keyof Device, { sum: number; most: number; count: number }>;
  readonly throttled: Map<string, number>;
}

/** What GPUs said of themselves. */
export class GpuDevices {
  readonly #gpus = new Map<number, Sums>();

  /** Any counter. */
  counter({ track: { name }, value }: Counter): void {
    const [, gpu, what] = /^GPU (\d+): (.+)$/.exec(name) ?? [];
    const figure = COUNTED[what ?? ""];
    if (figure === undefined) return;
    const { figures } = this.#of(Number(gpu));
    const { sum, most, count } = figures.get(figure) ?? { sum: 0, most: 0, count: 0 };
    figures.set(figure, { sum: sum + value, most: Math.max(most, value), count: count + 1 });
  }

  /** A `gpu.throttle`. */
  throttled({ args }: Instant): void {
    const { gpu, reason } = args as { gpu: number; reason: string };
    const { throttled } = this.#of(gpu);
    throttled.set(reason, (throttled.get(reason) ?? 0) + 1);
  }

  result(): Device[] {
    return [...this.#gpus].sort(([a], [b]) => a - b).map(([gpu, { figures, throttled }]) => {
      const mean = (figure: keyof Device) => {
        const sums = figures.get(figure);
        return sums ? sums.sum / sums.count : null;
      };
      return {
        gpu,
        // What a GPU does not say of itself is left out of a reading.
        readings: Math.max(0, ...[...figures.values()].map(({ count }) => count), ...throttled.values()),
        busyPercent: mean("busyPercent"),
        memoryBusyPercent: mean("memoryBusyPercent"),
        memoryUsedBytes: figures.get("memoryUsedBytes")?.most ?? null,
        clockMhz: mean("clockMhz"),
        powerWatts: mean("powerWatts"),
        temperatureCelsius: mean("temperatureCelsius"),
        throttled: [...throttled].map(([reason, readings]) => ({ reason, readings })),
      };
    });
  }

  #of(gpu: number): Sums {
    let sums = this.#gpus.get(gpu);
    if (!sums) this.#gpus.set(gpu, sums = { figures: new Map(), throttled: new Map() });
    return sums;
  }
}

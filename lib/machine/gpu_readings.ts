import type { GpuReading } from "../events/surroundings.ts";
import { type Child, plainEnvironment, type SpawnChild } from "./child.ts";
import type { KernelFiles } from "./files.ts";

/** What nvidia-smi is asked for, in this order. */
const ASKED = [
  "index",
  "utilization.gpu",
  "utilization.memory",
  "memory.used",
  "memory.total",
  "clocks.sm",
  "power.draw",
  "temperature.gpu",
  "clocks_throttle_reasons.active",
] as const;

/** Bits of the reasons that make a busy GPU slower than it could be; that it is idle, or was told to be slow, is none. */
const REASONS: readonly (readonly [bit: number, reason: string])[] = [
  [0x4, "power limit"],
  [0x8, "hardware slowdown"],
  [0x20, "temperature"],
  [0x40, "temperature (hardware)"],
  [0x80, "power brake"],
];

const MIB = 1 << 20, EVERY_SECONDS = 1;

/** Of the clocks that a card of the amdgpu driver can have (`1: 2124Mhz *`), the one that it has. */
const CLOCK = /^\d+: (\d+)Mhz *\*/m;

/** Of a GPU that the kernel has for computing (`drm_render_minor 128`), by which node others ask something of it; that of a CPU is 0. */
const RENDERS = /^drm_render_minor ([1-9]\d*)$/m;
const KFD = "/sys/class/kfd/kfd/topology/nodes";

/** A card, and where the kernel tells of it and of what its sensors say: microwatts, and thousandths of a degree. */
interface Card {
  readonly gpu: number;
  readonly folder: string;
  readonly sensors: string;
}

/**
 * What GPUs say of themselves each second, by the tool or the files that are there: nvidia-smi, or those of the amdgpu driver. Nothing where neither is.
 */
export class GpuReadings {
  #child: Child | null = null;
  #latest = new Map<number, GpuReading>();
  #cards: Promise<Card[]> | undefined;

  constructor(readonly files: KernelFiles, readonly spawn: SpawnChild, readonly path: string) {}

  /** What was read since the last look; the first one begins to read. */
  async look(): Promise<readonly GpuReading[]> {
    if (!this.#child) this.#begin();
    const read = [...this.#latest.values()];
    this.#latest = new Map();
    return [...read, ...await this.#ofAmd()];
  }

  close(): void {
    this.#child?.kill("SIGTERM");
  }

  #begin(): void {
    const args = [`--query-gpu=${ASKED.join(",")}`, "--format=csv,noheader,nounits", `--loop=${EVERY_SECONDS}`];
    const env = { ...plainEnvironment, PATH: `${this.path}:${plainEnvironment.PATH}` };
    this.#child = this.spawn({ program: "nvidia-smi", args, env, stdout: "piped", parentDeath: true, newSession: true });
    void this.#read(this.#child.stdout!);
  }

  async #read(stdout: ReadableStream<Uint8Array>): Promise<void> {
    let rest = "";
    for await (const text of stdout.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        const reading = parseNvidia(line);
        if (reading) this.#latest.set(reading.gpu, reading);
      }
    }
  }

  async #ofAmd(): Promise<GpuReading[]> {
    this.#cards ??= this.#findCards();
    return (await Promise.all((await this.#cards).map((card) => this.#ofCard(card)))).filter((reading) => reading !== null);
  }

  /** By the numbers that HIP has for them; behind these come cards with which nobody computes. */
  async #findCards(): Promise<Card[]> {
    const numbers = await this.#numbers();
    const names = (await this.files.list("/sys/class/drm")).filter((name) => /^card\d+$/.test(name)).sort();
    return await Promise.all(names.map(async (name) => {
      const folder = `/sys/class/drm/${name}/device`;
      const [[sensors], nodes] = await Promise.all([this.files.list(`${folder}/hwmon`), this.files.list(`${folder}/drm`)]);
      const render = nodes.find((node) => numbers.has(node));
      const gpu = render === undefined ? numbers.size + Number(name.slice("card".length)) : numbers.get(render)!;
      return { gpu, folder, sensors: `${folder}/hwmon/${sensors}` };
    }));
  }

  /** By render node (`renderD128`): the order in which the kernel has GPUs for computing, which is HIP's. */
  async #numbers(): Promise<Map<string, number>> {
    const nodes = (await this.files.list(KFD)).sort((a, b) => Number(a) - Number(b));
    const found = (await this.files.texts(nodes.map((node) => `${KFD}/${node}/properties`))).map((text) => RENDERS.exec(text ?? "")?.[1]);
    return new Map(found.filter((minor) => minor !== undefined).map((minor, i) => [`renderD${minor}`, i]));
  }

  /** Null: a card of another driver. */
  async #ofCard({ gpu, folder, sensors }: Card): Promise<GpuReading | null> {
    const own = ["gpu_busy_percent", "mem_busy_percent", "mem_info_vram_used", "mem_info_vram_total", "pp_dpm_sclk"].map((name) =>
      `${folder}/${name}`
    );
    // Where nothing is felt at the edge of the chip (MI300, MI350), what its hottest place is.
    const sensed = ["power1_average", "power1_input", "temp1_input", "temp2_input"].map((name) => `${sensors}/${name}`);
    const [busy, memoryBusy, memoryUsed, memoryTotal, clocks, ...felt] = await this.files.texts([...own, ...sensed]);
    if (!busy) return null;
    const [average, momentary, edge, hottest] = felt.map(numberOf), power = average ?? momentary ?? null, temperature = edge ?? hottest ?? null;
    return {
      gpu,
      busy: numberOf(busy),
      memoryBusy: numberOf(memoryBusy),
      memoryUsed: numberOf(memoryUsed),
      memoryTotal: numberOf(memoryTotal),
      clock: numberOf(CLOCK.exec(clocks ?? "")?.[1]),
      power: power === null ? null : power / 1e6,
      temperature: temperature === null ? null : temperature / 1e3,
      throttled: [],
    };
  }
}

/** A line of nvidia-smi; null for what is none. What a GPU does not tell is `[N/A]`. */
export function parseNvidia(line: string): GpuReading | null {
  const words = line.split(",").map((word) => word.trim());
  const gpu = numberOf(words[0]);
  if (words.length !== ASKED.length || gpu === null || !Number.isInteger(gpu)) return null;
  const [, busy, memoryBusy, used, total, clock, power, temperature] = words.map(numberOf);
  const active = /^0x[0-9a-f]+$/i.test(words.at(-1)!) ? Number(words.at(-1)) : 0;
  return {
    gpu,
    busy: busy!,
    memoryBusy: memoryBusy!,
    memoryUsed: used === null ? null : used! * MIB,
    memoryTotal: total === null ? null : total! * MIB,
    clock: clock!,
    power: power!,
    temperature: temperature!,
    throttled: REASONS.filter(([bit]) => Math.floor(active / bit) % 2 === 1).map(([, reason]) => reason),
  };
}

function numberOf(text: string | null | undefined): number | null {
  const value = text === null || text === undefined || text.trim() === "" ? NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}

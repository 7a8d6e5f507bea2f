import type { KernelFiles } from "../files.ts";

/** Bytes of each cache of a level, however many CPUs share it; none where the kernel does not say. */
export interface Caches {
  readonly second: readonly number[];
  /** Processors of several dies have one for each of these. */
  readonly third: readonly number[];
}

/** Those that these CPUs have. */
export async function readCaches(files: Pick<KernelFiles, "texts">, cpus: readonly number[]): Promise<Caches> {
  const level = async (index: string) => {
    const folders = cpus.map((cpu) => `/sys/devices/system/cpu/cpu${cpu}/cache/${index}`);
    const texts = await files.texts(folders.flatMap((folder) => [`${folder}/shared_cpu_list`, `${folder}/size`]));
    const sizes = new Map(folders.map((_, cpu) => [texts[2 * cpu], parseSize(texts[2 * cpu + 1])]));
    return [...sizes.values()].filter((size) => size !== undefined);
  };
  const [second, third] = await Promise.all([level("index2"), level("index3")]);
  return { second, third };
}

/** Of so many of them as threads can have at most, each on another one. */
export function reached(caches: readonly number[], threads: number): number {
  return caches.slice(0, threads).reduce((sum, size) => sum + size, 0);
}

/** `32768K`. */
function parseSize(text: string | null | undefined): number | undefined {
  const found = /^(\d+)([KM])/.exec(text ?? "");
  return found ? Number(found[1]) * (found[2] === "M" ? 1 << 20 : 1024) : undefined;
}

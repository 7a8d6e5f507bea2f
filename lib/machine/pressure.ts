import type { Pressure } from "../events/surroundings.ts";
import type { KernelFiles } from "./files.ts";

const RESOURCES = ["cpu", "io", "memory"] as const;

/** What the kernel says of pressure; a resource that it says nothing of is null. */
export function readPressure(files: Pick<KernelFiles, "texts">): Promise<Pressure> {
  return read(files, (name) => `/proc/pressure/${name}`);
}

/** The same of a control group of version 2, by its folder. */
export function readGroupPressure(files: Pick<KernelFiles, "texts">, folder: string): Promise<Pressure> {
  return read(files, (name) => `${folder}/${name}.pressure`);
}

async function read(files: Pick<KernelFiles, "texts">, path: (name: string) => string): Promise<Pressure> {
  const texts = await files.texts(RESOURCES.map(path));
  return Object.fromEntries(RESOURCES.map((name, i) => [name, parsePressure(texts[i] ?? "")])) as unknown as Pressure;
}

/** `some avg10=0.00 avg60=0.00 avg300=0.00 total=1234`, and `full …`. */
export function parsePressure(text: string): Pressure["cpu"] {
  const line = (kind: string) => {
    const found = new RegExp(`^${kind} avg10=([\\d.]+) avg60=([\\d.]+) avg300=([\\d.]+) total=(\\d+)$`, "m").exec(text);
    if (!found) return null;
    const [avg10, avg60, avg300, total] = found.slice(1).map(Number) as [number, number, number, number];
    return { avg10, avg60, avg300, total };
  };
  return { some: line("some"), full: line("full") };
}

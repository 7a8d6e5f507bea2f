import { join } from "node:path";
import { mustRun } from "../harness/command.ts";
import { bpftracesOf } from "./processes.ts";

/** The counters `@n` of a run's programs, read by bpftool and by nobody of ours. */
export interface KernelCounters extends AsyncDisposable {
  /** What each holds now, sorted. */
  read(): Promise<number[]>;
}

/**
 * Finds the map `@n` of each bpftrace of a llmprof and pins it, so that it outlives the bpftrace: what it says after the run is what it said when
 * counting ended, however fast or slowly the probes were detached.
 */
export async function holdKernelCounters(llmprof: number): Promise<KernelCounters> {
  const folder = Deno.makeTempDirSync({ prefix: "llmprof-test-maps-" });
  const pins: string[] = [];
  // Of our own: machines differ in whether and where they have one.
  await mustRun(["mount", "-t", "bpf", "bpf", folder]);
  const release = async () => {
    pins.forEach((pin) => Deno.removeSync(pin));
    await mustRun(["umount", folder]);
    Deno.removeSync(folder);
  };
  try {
    const mine = new Set(bpftracesOf(llmprof).flatMap(mapsOf));
    const maps: { id: number; name?: string }[] = JSON.parse((await mustRun(["bpftool", "-j", "map", "show"])).stdout);
    // A map's name is an identifier: bpftrace writes `@n` as `AT_n`.
    for (const { id } of maps.filter(({ id, name }) => name === "AT_n" && mine.has(id))) {
      const pin = join(folder, `n${id}`);
      await mustRun(["bpftool", "map", "pin", "id", String(id), pin]);
      pins.push(pin);
    }
  } catch (error) {
    await release();
    throw error;
  }
  return {
    async read() {
      const dumps = await Promise.all(pins.map((pin) => mustRun(["bpftool", "-j", "map", "dump", "pinned", pin])));
      return dumps.map(({ stdout }) => sum(JSON.parse(stdout))).sort((a, b) => a - b);
    },
    [Symbol.asyncDispose]: release,
  };
}

/** Ids of the maps that a process has open. */
function mapsOf(pid: number): number[] {
  return [...Deno.readDirSync(`/proc/${pid}/fdinfo`)].flatMap(({ name }) => {
    try {
      const id = /^map_id:\s*(\d+)/m.exec(Deno.readTextFileSync(`/proc/${pid}/fdinfo/${name}`))?.[1];
      return id === undefined ? [] : [Number(id)];
    } catch {
      // Closed in the meantime.
      return [];
    }
  });
}

interface Entry {
  readonly values?: readonly { readonly value: readonly string[] }[];
  readonly value?: readonly string[];
}

/** `count()` keeps a number for each CPU, as bytes, the lowest first. */
function sum(entries: readonly Entry[]): number {
  const values = entries.flatMap((entry) => entry.values?.map(({ value }) => value) ?? [entry.value!]);
  return values.reduce((total, bytes) => total + bytes.slice(0, 8).reduceRight((number, byte) => number * 256 + Number(byte), 0), 0);
}

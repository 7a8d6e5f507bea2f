import type { Limits } from "../events/surroundings.ts";
import type { KernelFiles } from "./files.ts";
import { kernelCount } from "./kernel_count.ts";
import { parseMounts } from "./mounts.ts";

/** Folders of the control groups that limit a process: its own first, then those above. */
export interface Groups {
  readonly cpu: readonly string[];
  readonly memory: readonly string[];
  /** Its own of version 2, which says how long it stood still for want of what; null: none but the root, which is the machine. */
  readonly pressure: string | null;
}

/** Null where the process has ended. */
export async function findGroups(files: Pick<KernelFiles, "texts">, pid: number): Promise<Groups | null> {
  const [groups, mounts] = await files.texts([`/proc/${pid}/cgroup`, "/proc/self/mounts"]);
  if (!groups || !mounts) return null;
  const mounted = parseMounts(mounts);
  const folders = (controller: string): string[] => {
    // Version 1 has a hierarchy for each controller; in version 2 the one without a name has all that none of these has.
    const own = new RegExp(`^\\d+:(?:[^:\\n]*,)?${controller}(?:,[^:\\n]*)?:(.*)$`, "m").exec(groups)?.[1];
    const path = own ?? /^0::(.*)$/m.exec(groups)?.[1];
    const mount = mounted.find(({ type, options }) => own === undefined ? type === "cgroup2" : type === "cgroup" && options.includes(controller));
    if (path === undefined || !mount) return [];
    const parts = path.split("/").filter((part) => part !== "");
    return parts.map((_, i) => `${mount.place}/${parts.slice(0, parts.length - i).join("/")}`);
  };
  const unified = /^0::\/(.+)$/m.exec(groups)?.[1], mount = mounted.find(({ type }) => type === "cgroup2");
  const pressure = unified !== undefined && mount ? `${mount.place}/${unified}` : null;
  return { cpu: folders("cpu"), memory: folders("memory"), pressure };
}

/** Each in the words of both versions. */
const CPU = ["cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.stat"];
const MEMORY = ["memory.max", "memory.limit_in_bytes", "memory.current", "memory.usage_in_bytes", "memory.events", "memory.oom_control"];
/** Version 1 says so of a group without a limit: as many pages as a number holds. */
const NO_LIMIT = 2 ** 62;

/** What the kernel says of them now; null when they are gone. Of several limits the narrowest counts. */
export async function readLimits(files: Pick<KernelFiles, "texts">, { cpu, memory }: Groups): Promise<Limits | null> {
  const paths = [
    ...cpu.flatMap((folder) => CPU.map((name) => `${folder}/${name}`)),
    ...memory.flatMap((folder) => MEMORY.map((name) => `${folder}/${name}`)),
  ];
  const texts = await files.texts(paths);
  if (texts.every((text) => text === null)) return null;
  const take = (names: readonly string[], at: number) => Object.fromEntries(names.map((name, i) => [name, texts[at + i]]));
  const cpus = cpu.map((_, i) => cpuOf(take(CPU, i * CPU.length)));
  const memories = memory.map((_, i) => memoryOf(take(MEMORY, (cpu.length * CPU.length) + i * MEMORY.length)));
  const [narrow] = memories.filter(({ limit }) => limit !== null).sort((a, b) => a.limit! - b.limit!);
  const narrowest = Math.min(...cpus.map(({ cpus }) => cpus));
  return {
    cpus: Number.isFinite(narrowest) ? narrowest : null,
    throttled: cpus.reduce((sum, { throttled }) => sum + throttled, 0),
    throttledNs: cpus.reduce((sum, { throttledNs }) => sum + throttledNs, 0),
    memoryLimit: narrow?.limit ?? null,
    memoryBytes: narrow?.used ?? null,
    // Counted where the process was that was killed.
    killed: memories[0]?.killed ?? 0,
  };
}

type Texts = Readonly<Record<string, string | null | undefined>>;

function cpuOf(texts: Texts): { readonly cpus: number; readonly throttled: number; readonly throttledNs: number } {
  const [quota, period] = texts["cpu.max"]?.split(" ").map(Number) ?? [texts["cpu.cfs_quota_us"], texts["cpu.cfs_period_us"]].map(Number);
  const stat = texts["cpu.stat"];
  return {
    cpus: quota! > 0 && period! > 0 ? quota! / period! : Infinity,
    throttled: kernelCount(stat, "nr_throttled"),
    throttledNs: kernelCount(stat, "throttled_usec") * 1000 + kernelCount(stat, "throttled_time"),
  };
}

function memoryOf(texts: Texts): { readonly limit: number | null; readonly used: number | null; readonly killed: number } {
  const limit = Number(texts["memory.max"] ?? texts["memory.limit_in_bytes"] ?? NaN);
  const used = Number(texts["memory.current"] ?? texts["memory.usage_in_bytes"] ?? NaN);
  return {
    limit: limit < NO_LIMIT ? limit : null,
    used: Number.isFinite(used) ? used : null,
    killed: kernelCount(texts["memory.events"] ?? texts["memory.oom_control"], "oom_kill"),
  };
}

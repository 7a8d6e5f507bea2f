import type { Limits, ReadLimit } from "../events/surroundings.ts";
import type { KernelFiles } from "./files.ts";
import { kernelCount } from "./kernel_count.ts";
import { parseMountInfo, type PartMount, wayTo } from "./mounts.ts";

/** Folders of the control groups that limit a process: its own first, then those above, up to where they are mounted: in a container that is its own. */
export interface Groups {
  readonly cpu: readonly string[];
  readonly memory: readonly string[];
  readonly disks: readonly string[];
  readonly processes: readonly string[];
  /** Its own of version 2, which says how long it stood still for want of what; null: none but the root, which is the machine. */
  readonly pressure: string | null;
}

/** Null where the process has ended. A container that has the machine's names of groups sees its own alone where they are mounted. */
export async function findGroups(files: Pick<KernelFiles, "texts">, pid: number): Promise<Groups | null> {
  const [groups, mounts] = await files.texts([`/proc/${pid}/cgroup`, "/proc/self/mountinfo"]);
  if (!groups || !mounts) return null;
  const mounted = parseMountInfo(mounts);
  // Of those at one place the last one hides the others; of those at several the one that shows most of the groups above.
  const way = (path: string | undefined, isIts: (mount: PartMount) => boolean) => {
    if (path === undefined) return undefined;
    const seen = new Map(mounted.filter(isIts).map((mount) => [mount.place, mount])).values();
    const ways = [...seen].map((mount) => wayTo(path, mount)).filter((way) => way !== null);
    return ways.toSorted((a, b) => b.length - a.length)[0];
  };
  const unified = /^0::(.*)$/m.exec(groups)?.[1], isUnified = ({ type }: PartMount) => type === "cgroup2";
  const folders = (controller: string): string[] => {
    // Version 1 has a hierarchy for each controller; in version 2 the one without a name has all that none of these has.
    const own = new RegExp(`^\\d+:(?:[^:\\n]*,)?${controller}(?:,[^:\\n]*)?:(.*)$`, "m").exec(groups)?.[1];
    const names = own === undefined ? way(unified, isUnified) : way(own, ({ type, options }) => type === "cgroup" && options.includes(controller));
    return (names ?? []).map((_, n, all) => all.slice(0, n + 1).join("/")).reverse();
  };
  const pressure = unified === "/" ? null : way(unified, isUnified)?.join("/") ?? null;
  return { cpu: folders("cpu"), memory: folders("memory"), disks: folders("blkio"), processes: folders("pids"), pressure };
}

/** Each in the words of both versions. */
export const QUOTA = ["cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"], MOST_MEMORY = ["memory.max", "memory.limit_in_bytes"];
/** With these, what is held of it. */
export const HELD_MEMORY = ["memory.current", "memory.usage_in_bytes", "memory.stat"];
const CPU = [...QUOTA, "cpu.stat"];
const MEMORY = [
  ...MOST_MEMORY,
  ...HELD_MEMORY,
  "memory.high",
  "memory.events",
  "memory.events.local",
  "memory.oom_control",
];
const READ_BYTES = "blkio.throttle.read_bps_device", READ_REQUESTS = "blkio.throttle.read_iops_device";
const DISKS = ["io.max", READ_BYTES, READ_REQUESTS];
/** Version 1 says so of a group without a limit: as many pages as a number holds. */
const NO_LIMIT = 2 ** 62;

/**
 * What the kernel says of them now; null when the process's own are gone. Of several limits the narrowest counts. `pageBytes`: of a page of this machine.
 * `everybody`: all that runs is watched, and these are the groups of one.
 */
export async function readLimits(
  files: Pick<KernelFiles, "texts">,
  { cpu, memory, disks }: Groups,
  pageBytes: number,
  everybody = false,
): Promise<Limits | null> {
  const [[events], ...all] = await Promise.all([
    files.texts(["/proc/vmstat"]),
    readEach(files, cpu, CPU),
    readEach(files, memory, MEMORY),
    readEach(files, disks, DISKS),
  ]);
  // Those above may go on.
  if (all.every(([own]) => isNothing(own))) return null;
  const [ofCpu, ofMemory, ofDisks] = all as [Texts[], Texts[], Texts[]];
  // Version 1 removes one hierarchy after the other. Where both are one, the memory of a group may be counted in one above it, and not in its own.
  const isOneHierarchy = memory[0] === cpu[0] && ofCpu[0]?.["cpu.stat"] != null;
  if (memory.length > 1 && isNothing(ofMemory[0]) && !isOneHierarchy) return null;
  const cpus = ofCpu.map(cpuOf), memories = ofMemory.map(memoryOf);
  const most = narrowestBy(memories, ({ limit }) => limit), high = narrowestBy(memories, ({ high }) => high);
  const narrow = narrowestBy(memories, ({ limit, high }) => Math.min(limit, high));
  const narrowest = Math.min(...cpus.map(({ cpus }) => cpus));
  return {
    cpus: Number.isFinite(narrowest) ? narrowest : null,
    throttled: cpus.reduce((sum, { throttled }) => sum + throttled, 0),
    throttledNs: cpus.reduce((sum, { throttledNs }) => sum + throttledNs, 0),
    memoryLimit: most?.limit ?? null,
    memoryBytes: narrow?.used ?? null,
    ...high && { memoryHigh: high.high, heldBack: high.heldBack },
    // Counted where the process was that was killed, or in the nearest group above that counts, and of the whole machine, as of the root group, by nobody else.
    killed: (everybody ? undefined : memories.find(({ killed }) => killed !== undefined)?.killed) ?? kernelCount(events, "oom_kill"),
    ...narrow?.refaultedPages !== undefined && { refaultedBytes: narrow.refaultedPages * pageBytes },
    reads: narrowestOf(ofDisks.flatMap(readsOf)),
  };
}

type Texts = Readonly<Record<string, string | null>>;

function isNothing(texts: Texts = {}): boolean {
  return Object.values(texts).every((text) => text === null);
}

/** Files of each of these folders, by name. */
export async function readEach(files: Pick<KernelFiles, "texts">, folders: readonly string[], names: readonly string[]): Promise<Texts[]> {
  const texts = await files.texts(folders.flatMap((folder) => names.map((name) => `${folder}/${name}`)));
  return folders.map((_, i) => Object.fromEntries(names.map((name, n) => [name, texts[i * names.length + n]!])));
}

/** Bytes that a group may have; Infinity: as many as there are. */
export function sizeOf(text: string | null | undefined): number {
  const bytes = Number(text ?? NaN);
  return bytes < NO_LIMIT ? bytes : Infinity;
}

/** Bytes that a group has and that nobody gets without taking them from it: what was read of files could be read again. */
export function heldOf(texts: Texts): number {
  // Version 1 has lines of their own for what groups below have as well.
  const ofFiles = (list: string) => kernelCount(texts["memory.stat"], `total_${list}`) || kernelCount(texts["memory.stat"], list);
  return (usedOf(texts) ?? 0) - ofFiles("inactive_file") - ofFiles("active_file");
}

function usedOf(texts: Texts): number | null {
  const used = texts["memory.current"] ?? texts["memory.usage_in_bytes"];
  return used == null ? null : Number(used);
}

/** Processors that a group allows. */
export function quotaOf(texts: Texts): number {
  const [quota, period] = texts["cpu.max"]?.split(" ").map(Number) ?? [texts["cpu.cfs_quota_us"], texts["cpu.cfs_period_us"]].map(Number);
  return quota! > 0 && period! > 0 ? quota! / period! : Infinity;
}

function cpuOf(texts: Texts): { readonly cpus: number; readonly throttled: number; readonly throttledNs: number } {
  const stat = texts["cpu.stat"];
  return {
    cpus: quotaOf(texts),
    throttled: kernelCount(stat, "nr_throttled"),
    throttledNs: kernelCount(stat, "throttled_usec") * 1000 + kernelCount(stat, "throttled_time"),
  };
}

interface MemoryGroup {
  /** Infinity: none. */
  readonly limit: number;
  readonly high: number;
  readonly used: number | null;
  /** Undefined: nobody counts. */
  readonly killed: number | undefined;
  readonly heldBack: number;
  readonly refaultedPages: number | undefined;
}

/** The group that allows least, where any has a limit. */
function narrowestBy(groups: readonly MemoryGroup[], limitOf: (group: MemoryGroup) => number): MemoryGroup | undefined {
  return groups.filter((group) => limitOf(group) < Infinity).sort((a, b) => limitOf(a) - limitOf(b))[0];
}

function memoryOf(texts: Texts): MemoryGroup {
  const killed = texts["memory.events"] ?? texts["memory.oom_control"] ?? null;
  return {
    limit: sizeOf(texts["memory.max"] ?? texts["memory.limit_in_bytes"]),
    high: sizeOf(texts["memory.high"]),
    used: usedOf(texts),
    killed: killed === null ? undefined : kernelCount(killed, "oom_kill"),
    // Of this group, and not of those below it that are not the target's; before Linux 5.2 of all.
    heldBack: kernelCount(texts["memory.events.local"] ?? texts["memory.events"], "high"),
    refaultedPages: refaultedOf(texts["memory.stat"] ?? ""),
  };
}

/** Before Linux 5.9 pages of files are not counted apart, and in groups of version 1 not at all until later; there those below are in a line of its own. */
function refaultedOf(stat: string): number | undefined {
  const name = ["total_workingset_refault_file", "workingset_refault_file"].find((name) => stat.includes(`${name} `));
  return name === undefined ? undefined : kernelCount(stat, name);
}

/** `8:16 rbps=1048576 wbps=max riops=max wiops=max`, or a file for each of these with `8:16 1048576`. */
function readsOf(texts: Texts): ReadLimit[] {
  const lines = (name: string) =>
    (texts[name] ?? "").split("\n").flatMap((line) => {
      const [device, ...words] = line.trim().split(" ");
      return words.length === 0 ? [] : [{ device: device!, text: words.join(" ") }];
    });
  const number = (text: string | undefined) => text === undefined || !/^\d+$/.test(text) ? null : Number(text);
  return [
    ...lines("io.max").map(({ device, text }) => (
      { device, bytes: number(/rbps=(\d+)/.exec(text)?.[1]), requests: number(/riops=(\d+)/.exec(text)?.[1]) }
    )),
    ...lines(READ_BYTES).map(({ device, text }) => ({ device, bytes: number(text), requests: null })),
    ...lines(READ_REQUESTS).map(({ device, text }) => ({ device, bytes: null, requests: number(text) })),
  ];
}

/** One for each disk of which anything is limited. */
function narrowestOf(reads: readonly ReadLimit[]): ReadLimit[] {
  const least = (numbers: readonly (number | null)[]) => {
    const given = numbers.filter((number) => number !== null);
    return given.length === 0 ? null : Math.min(...given);
  };
  return [...Map.groupBy(reads, ({ device }) => device)].map(([device, all]) => (
    { device, bytes: least(all.map(({ bytes }) => bytes)), requests: least(all.map(({ requests }) => requests)) }
  )).filter(({ bytes, requests }) => bytes !== null || requests !== null);
}

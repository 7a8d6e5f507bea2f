import { affinityIn } from "./affinity.ts";
import { runChild } from "./child.ts";
import { findGroups, HELD_MEMORY, heldOf, MOST_MEMORY, QUOTA, quotaOf, readEach, sizeOf } from "./control_group.ts";
import type { KernelFiles } from "./files.ts";
import { kib } from "./memory_use.ts";
import { hiding, type Mount, mountOf, parseMounts } from "./mounts.ts";
import { numbersOf } from "./numa.ts";
import { isKept } from "./why_not.ts";

/** What no run asks for and `doctor` explains: limits, room, and how the kernel was built. */
export interface Surroundings {
  /** The kernel's configuration, `CONFIG_BPF` → `y`; null where nobody left it to be read. */
  readonly config: ReadonlyMap<string, string> | null;
  /** `/proc/pressure` is there. */
  readonly pressure: boolean;
  /** The mount that hides `/proc/pressure`, or null. */
  readonly hiddenPressure: string | null;
  /** Bytes of memory of which its control groups leave fewest, of how many, and the file that says so; null when there is no limit. */
  readonly memoryLimit: { readonly left: number; readonly most: number; readonly file: string } | null;
  /** Bytes that the machine has left, or could have by giving up what it has read of files; Infinity where it does not say. */
  readonly availableMemory: number;
  /** Processors that its control groups allow, such as 0.5, and the file that says so; null when there is no limit. */
  readonly cpuLimit: { readonly cpus: number; readonly file: string } | null;
  /** Processes and threads of which its control groups leave room for fewest, of how many, and the file that says so; null when there is no limit. */
  readonly processLimit: { readonly left: number; readonly most: number; readonly file: string } | null;
  /** Processors that llmprof may run on; 0 where the kernel does not say. */
  readonly allowedCpus: number;
  /** Bytes of locked memory that a process without rights of its own may have; null where it may ask for any, as bpftrace does. */
  readonly lockedMemory: number | null;
  /** Files that what llmprof starts may have open; Infinity where the kernel does not say. */
  readonly openFiles: number;
  /** Buffers of perf events count as locked memory. */
  readonly perfLocked: boolean;
  /** First where a trace goes, then where it may go instead. */
  readonly room: readonly Room[];
  /** Where bpftrace is told what llmprof names. */
  readonly run: Room;
}

export interface Room {
  readonly folder: string;
  /** Bytes that this user may still write; null where that cannot be asked for. */
  readonly bytes: number | null;
  /** The mount that the folder lies in, where nothing can be written to it; null where it can. */
  readonly readOnly: string | null;
  /** Deno keeps it from llmprof, see {@link isKept}. */
  readonly kept: boolean;
}

export interface SurroundingsOptions {
  /** Process id of llmprof. */
  readonly pid: number;
  /** Folders whose room is asked for: the current one first. */
  readonly folders: readonly string[];
  /** Bytes free in each folder: {@link freeBytes} unless a test says otherwise. */
  readonly free?: (folders: readonly string[]) => Promise<(number | null)[]>;
}

/** About 10 ms. What cannot be read is reported as absent. */
export async function readSurroundings(files: KernelFiles, options: SurroundingsOptions): Promise<Surroundings> {
  const { pid, folders, free = freeBytes } = options;
  const [[limits, status, mountTable, paranoid, memory], groupLimits, config, pressure, room] = await Promise.all([
    files.texts([`/proc/${pid}/limits`, `/proc/${pid}/status`, "/proc/self/mounts", "/proc/sys/kernel/perf_event_paranoid", "/proc/meminfo"]),
    readGroupLimits(files, pid),
    readConfig(files),
    files.exists("/proc/pressure/cpu"),
    free([...folders, "/run"]),
  ]);
  const mounts = parseMounts(mountTable ?? "");
  const roomIn = (folder: string, i: number): Room => ({
    folder,
    bytes: room[i] ?? null,
    readOnly: readOnlyMount(folder, mounts),
    kept: isKept(folder),
  });
  const [, locked, most] = /^Max locked memory\s+(\S+)\s+(\S+)/m.exec(limits ?? "") ?? [];
  return {
    config,
    pressure,
    hiddenPressure: pressure ? null : hiding("/proc/pressure", mounts),
    ...groupLimits,
    availableMemory: kib(memory, "MemAvailable") || Infinity,
    allowedCpus: numbersOf(affinityIn(status) ?? "").length,
    lockedMemory: most === undefined || most === "unlimited" ? null : Number(locked),
    openFiles: Number(/^Max open files\s+(\d+)/m.exec(limits ?? "")?.[1] ?? Infinity),
    perfLocked: Number(paranoid ?? 0) >= 0,
    room: folders.map(roomIn),
    run: roomIn("/run", folders.length),
  };
}

function readOnlyMount(folder: string, mounts: readonly Mount[]): string | null {
  const mount = mountOf(folder, mounts);
  return mount?.options.includes("ro") ? mount.place : null;
}

/** Bytes that this user may still write in each folder; null where there is no such folder. */
async function freeBytes(folders: readonly string[]): Promise<(number | null)[]> {
  return await Promise.all(folders.map(async (folder) => {
    const { code, stdout } = await runChild({ program: "stat", args: ["-f", "-c", "%a %S", "--", folder] });
    const [blocks, size] = stdout.split(" ").map(Number);
    return code === 0 ? blocks! * size! : null;
  }));
}

/** From the kernel itself, or from the file that distributions install beside it. */
async function readConfig(files: KernelFiles): Promise<ReadonlyMap<string, string> | null> {
  const release = (await files.text("/proc/sys/kernel/osrelease") ?? "").trim();
  const packed = await files.bytes("/proc/config.gz", 0, 4 << 20);
  const text = packed ? await unpacked(packed) : await files.text(`/boot/config-${release}`) ?? await files.text(`/lib/modules/${release}/config`);
  if (text === null) return null;
  return new Map(
    text.split("\n").flatMap((line) => {
      const [, name, value] = /^(CONFIG_\w+)=(.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value!]];
    }),
  );
}

async function unpacked(packed: Uint8Array): Promise<string | null> {
  try {
    return await new Response(new Blob([packed as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  } catch {
    return null;
  }
}

const LIMITS_OF_MEMORY = ["memory.high", ...MOST_MEMORY];

/** Of the limits on the groups of llmprof the tightest is the one that holds. */
async function readGroupLimits(files: KernelFiles, pid: number): Promise<Pick<Surroundings, "memoryLimit" | "cpuLimit" | "processLimit">> {
  const { cpu, memory, processes } = await findGroups(files, pid) ?? { cpu: [], memory: [], processes: [] };
  const [quotas, sizes, counts] = await Promise.all([
    readEach(files, cpu, QUOTA),
    readEach(files, memory, [...LIMITS_OF_MEMORY, ...HELD_MEMORY]),
    readEach(files, processes, ["pids.max", "pids.current"]),
  ]);
  const cpuLimits = quotas.map((texts, i) => ({ cpus: quotaOf(texts), file: `${cpu[i]}/${texts["cpu.max"] ? "cpu.max" : "cpu.cfs_quota_us"}` }));
  const memoryLimits = sizes.flatMap((texts, i) =>
    LIMITS_OF_MEMORY.map((name) => ({ left: sizeOf(texts[name]) - heldOf(texts), most: sizeOf(texts[name]), file: `${memory[i]}/${name}` }))
  );
  const processLimits = counts.map((texts, i) => {
    const most = sizeOf(texts["pids.max"]);
    return { left: most - Number(texts["pids.current"]), most, file: `${processes[i]}/pids.max` };
  });
  return {
    cpuLimit: cpuLimits.filter(({ cpus }) => cpus < Infinity).sort((a, b) => a.cpus - b.cpus)[0] ?? null,
    processLimit: processLimits.filter(({ most }) => most < Infinity).sort((a, b) => a.left - b.left)[0] ?? null,
    memoryLimit: memoryLimits.filter(({ most }) => most < Infinity).sort((a, b) => a.left - b.left)[0] ?? null,
  };
}

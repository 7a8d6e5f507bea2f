import { runChild } from "./child.ts";
import type { KernelFiles } from "./files.ts";
import { hiding, type Mount, mountOf, parseMounts } from "./mounts.ts";
import { numbersOf } from "./numa.ts";

/** What no run asks for and `doctor` explains: limits, room, and how the kernel was built. */
export interface Surroundings {
  /** The kernel's configuration, `CONFIG_BPF` → `y`; null where nobody left it to be read. */
  readonly config: ReadonlyMap<string, string> | null;
  /** `/proc/pressure` is there. */
  readonly pressure: boolean;
  /** The mount that hides `/proc/pressure`, or null. */
  readonly hiddenPressure: string | null;
  /** The tightest memory limit on llmprof's control groups, and the file that sets it; null when there is none. */
  readonly memoryLimit: { readonly bytes: number; readonly file: string } | null;
  /** Processors that its control groups allow, such as 0.5, and the file that says so; null when there is no limit. */
  readonly cpuLimit: { readonly cpus: number; readonly file: string } | null;
  /** Processors that llmprof may run on; 0 where the kernel does not say. */
  readonly allowedCpus: number;
  /** Bytes of locked memory that a process without rights of its own may have; null where it may ask for any, as bpftrace does. */
  readonly lockedMemory: number | null;
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
  const [[limits, status, groups, mountTable, paranoid], config, pressure, room] = await Promise.all([
    files.texts([`/proc/${pid}/limits`, `/proc/${pid}/status`, `/proc/${pid}/cgroup`, "/proc/self/mounts", "/proc/sys/kernel/perf_event_paranoid"]),
    readConfig(files),
    files.exists("/proc/pressure/cpu"),
    free([...folders, "/run"]),
  ]);
  const mounts = parseMounts(mountTable ?? "");
  const roomIn = (folder: string, i: number): Room => ({ folder, bytes: room[i] ?? null, readOnly: readOnlyMount(folder, mounts) });
  const [, locked, most] = /^Max locked memory\s+(\S+)\s+(\S+)/m.exec(limits ?? "") ?? [];
  return {
    config,
    pressure,
    hiddenPressure: pressure ? null : hiding("/proc/pressure", mounts),
    ...await readGroupLimits(files, groups ?? "", mounts),
    allowedCpus: numbersOf(/^Cpus_allowed_list:\s*(\S+)/m.exec(status ?? "")?.[1] ?? "").length,
    lockedMemory: most === undefined || most === "unlimited" ? null : Number(locked),
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

interface LimitFile {
  readonly controller: "memory" | "cpu";
  readonly file: string;
  /** Beside it where quota and period are two files. */
  readonly period?: string;
}

/** Both versions of control groups, and every group above llmprof's own: the tightest limit is the one that holds. */
async function readGroupLimits(
  files: KernelFiles,
  groups: string,
  mounts: readonly Mount[],
): Promise<Pick<Surroundings, "memoryLimit" | "cpuLimit">> {
  const asked = groups.split("\n").flatMap((line) => limitFiles(line, mounts));
  const texts = await files.texts(asked.flatMap(({ file, period }) => period === undefined ? [file] : [file, period]));
  let memoryLimit: Surroundings["memoryLimit"] = null;
  let cpuLimit: Surroundings["cpuLimit"] = null;
  for (const { controller, file, period } of asked) {
    const [first, second] = (texts.shift() ?? "").trim().split(" ");
    const value = first === "" || first === "max" ? NaN : Number(first);
    const periodValue = period === undefined ? Number(second) : Number(texts.shift() ?? NaN);
    // The first version of control groups says "no limit" by a number near 2^63, and a quota of -1.
    if (controller === "memory" && value < 2 ** 60 && !(memoryLimit && memoryLimit.bytes <= value)) memoryLimit = { bytes: value, file };
    const cpus = value / periodValue;
    if (controller === "cpu" && cpus > 0 && !(cpuLimit && cpuLimit.cpus <= cpus)) cpuLimit = { cpus, file };
  }
  return { memoryLimit, cpuLimit };
}

/** A line of `/proc/PID/cgroup`: `0::/user.slice` (version 2), `4:memory:/job` (version 1). */
function limitFiles(line: string, mounts: readonly Mount[]): LimitFile[] {
  const [, id, controllers, path] = /^(\d+):([^:]*):(.*)$/.exec(line) ?? [];
  if (path === undefined) return [];
  const parts = path.split("/").filter(Boolean);
  const above = [...parts.keys(), parts.length].map((n) => parts.slice(0, n).map((part) => `/${part}`).join(""));
  if (id === "0") {
    const top = mounts.find(({ type }) => type === "cgroup2")?.place;
    if (top === undefined) return [];
    return above.flatMap((group): LimitFile[] => [
      { controller: "memory", file: `${top}${group}/memory.max` },
      { controller: "memory", file: `${top}${group}/memory.high` },
      { controller: "cpu", file: `${top}${group}/cpu.max` },
    ]);
  }
  return controllers!.split(",").flatMap((controller): LimitFile[] => {
    const top = mounts.find(({ type, options }) => type === "cgroup" && options.includes(controller))?.place;
    if (top === undefined) return [];
    if (controller === "memory") return above.map((group) => ({ controller, file: `${top}${group}/memory.limit_in_bytes` }));
    if (controller !== "cpu") return [];
    return above.map((group) => ({ controller, file: `${top}${group}/cpu.cfs_quota_us`, period: `${top}${group}/cpu.cfs_period_us` }));
  });
}

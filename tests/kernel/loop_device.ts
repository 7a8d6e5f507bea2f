import { existsSync } from "node:fs";
import { mustRun, run } from "../harness/command.ts";
import { ownName, type Temporary } from "../harness/temporary.ts";

/** A block device of a test's own, over a file on the disk. */
export interface LoopDevice extends AsyncDisposable {
  /** `/dev/loop0`. */
  readonly path: string;
  /** `loop0`. */
  readonly name: string;
  /** `7:0`. */
  readonly number: string;
  /** The same as tracepoints have it: 0x700000. */
  readonly dev: number;
  /** `none`, `mq-deadline`. */
  scheduler(name: string): void;
  /** So many requests its scheduler has at once: the device takes 128 of them. */
  queue(requests: number): void;
  /** Requests are no longer than that. */
  longest(kib: number): void;
  stat(): DeviceStat;
  /** Waits for a udevd, which reads a device anew when one that has written to it closes it. */
  settled(): Promise<void>;
  /** From then on what lies behind is an error. */
  truncate(bytes: number): void;
}

/** What the kernel counts of a device: requests from their making to their answer, times in whole milliseconds. */
export interface DeviceStat {
  readonly reads: number;
  /** That became a part of another. */
  readonly readsMerged: number;
  readonly readBytes: number;
  readonly readMs: number;
  readonly writes: number;
  readonly writesMerged: number;
  readonly writeBytes: number;
  readonly writeMs: number;
  readonly flushes: number;
}

export async function loopDevice(folder: Temporary, megabytes: number): Promise<LoopDevice> {
  const file = folder.file("device");
  await mustRun(["dd", "if=/dev/urandom", `of=${file}`, "bs=1M", `count=${megabytes}`, "status=none"]);
  const { stdout } = await mustRun(["losetup", "--find", "--show", "--direct-io=on", file]);
  // A udevd, the host's where this is a container, looks at each new device: its requests would be counted with a test's.
  const settled = async () => void await run(["nsenter", "--target", "1", "--mount", "udevadm", "settle", "--timeout=10"]);
  await settled();
  const path = stdout.trim(), name = path.slice("/dev/".length);
  const number = Deno.readTextFileSync(`/sys/block/${name}/dev`).trim();
  const setting = (of: string, value: string | number) => Deno.writeTextFileSync(`/sys/block/${name}/queue/${of}`, String(value));
  const [major, minor] = number.split(":").map(Number) as [number, number];
  const scheduler = (name: string) => setting("scheduler", name);
  return {
    path,
    name,
    number,
    dev: (major << 20) + minor,
    scheduler,
    queue: (requests) => setting("nr_requests", requests),
    longest: (kib) => setting("max_sectors_kb", kib),
    stat: () => statOf(name),
    settled,
    truncate: (bytes) => Deno.truncateSync(file, bytes),
    async [Symbol.asyncDispose]() {
      // Whoever takes it next would find the scheduler as this one left it.
      scheduler("none");
      await run(["losetup", "--detach", path]);
    },
  };
}

/** A file system on the device, mounted at `path`, with copies of these files by their names; nothing of them is in memory. */
export async function fileSystem(device: LoopDevice, folder: Temporary, files: Readonly<Record<string, string>>): Promise<FileSystem> {
  const path = folder.file("mounted");
  Deno.mkdirSync(path);
  await mustRun(["mkfs.ext4", "-q", device.path]);
  await mustRun(["unshare", "--mount", "sh", "-ec", FILL, device.path, path, ...Object.entries(files).flat()]);
  // One that is written to is read by threads of its own.
  const mount = () => mustRun(["mount", "-o", "ro", device.path, path]), unmount = () => mustRun(["umount", path]);
  await mount();
  const remount = async () => {
    await unmount();
    await mount();
  };
  return { path, remount, [Symbol.asyncDispose]: async () => void await unmount() };
}

/**
 * In mounts of its own: who makes a copy of everybody's meanwhile, as each container does, would keep the device mounted as one that is written to,
 * and nobody could mount it otherwise.
 */
const FILL = `at=$1; mount "$0" "$at"; shift; while [ $# -gt 0 ]; do cp "$2" "$at/$1"; shift 2; done; umount "$at"`;

/** Pages that fit into no memory go to the device, of all processes. */
export async function swapOn(device: LoopDevice): Promise<AsyncDisposable> {
  await mustRun(["mkswap", device.path]);
  await mustRun(["swapon", device.path]);
  return { [Symbol.asyncDispose]: async () => void await mustRun(["swapoff", device.path]) };
}

export interface FileSystem extends AsyncDisposable {
  readonly path: string;
  /** Forgets what is in memory of it. */
  remount(): Promise<void>;
}

/** `/sys/block/loop0/stat`. */
function statOf(name: string): DeviceStat {
  const fields = Deno.readTextFileSync(`/sys/block/${name}/stat`).trim().split(/\s+/).map(Number);
  const [reads, readsMerged, readSectors, readMs, writes, writesMerged, writeSectors, writeMs] = fields;
  return {
    reads: reads!,
    readsMerged: readsMerged!,
    readBytes: readSectors! * 512,
    readMs: readMs!,
    writes: writes!,
    writesMerged: writesMerged!,
    writeBytes: writeSectors! * 512,
    writeMs: writeMs!,
    flushes: fields[15]!,
  };
}

/** A control group whose processes read so many bytes a second from a device at most. `tasks`: the file that takes a process. */
export function slowReads(device: LoopDevice, bytesPerSecond: number): { readonly tasks: string } & Disposable {
  const group = `/sys/fs/cgroup/blkio/${ownName}`;
  Deno.mkdirSync(group);
  Deno.writeTextFileSync(`${group}/blkio.throttle.read_bps_device`, `${device.number} ${bytesPerSecond}`);
  return {
    tasks: `${group}/cgroup.procs`,
    // Whoever was in it has ended.
    [Symbol.dispose]: () => Deno.removeSync(group),
  };
}

/**
 * A control group whose processes have so much of a processor's time at most, in each `period` microseconds. `realTime`: so much as real-time processes,
 * which the limit is not for.
 */
export function cpuLimit(
  share: number,
  { period = 100_000, realTime = 0 } = {},
): { readonly tasks: string; readonly stat: () => { throttled: number; ns: number } } & Disposable {
  const group = `/sys/fs/cgroup/cpu/${ownName}`;
  Deno.mkdirSync(group);
  Deno.writeTextFileSync(`${group}/cpu.cfs_period_us`, String(period));
  Deno.writeTextFileSync(`${group}/cpu.cfs_quota_us`, String(Math.round(share * period)));
  const realTimeFile = `${group}/cpu.rt_runtime_us`;
  // Where the kernel has no such limit, they have none.
  if (realTime > 0 && existsSync(realTimeFile)) Deno.writeTextFileSync(realTimeFile, String(realTime * 1e6));
  const stat = () => {
    const text = Deno.readTextFileSync(`${group}/cpu.stat`);
    const field = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)![1]);
    return { throttled: field("nr_throttled"), ns: field("throttled_time") };
  };
  return { tasks: `${group}/cgroup.procs`, stat, [Symbol.dispose]: () => Deno.removeSync(group) };
}

/** A control group whose processes have so much memory at most, what the kernel keeps of files for them included. */
export function memoryLimit(bytes: number): { readonly tasks: string } & Disposable {
  const group = `/sys/fs/cgroup/memory/${ownName}`;
  Deno.mkdirSync(group);
  Deno.writeTextFileSync(`${group}/memory.limit_in_bytes`, String(bytes));
  return { tasks: `${group}/cgroup.procs`, [Symbol.dispose]: () => Deno.removeSync(group) };
}

/** A control group of version 2, which limits nothing: it says what its processes stand still for. */
export function ownGroup(): { readonly tasks: string; readonly folder: string } & Disposable {
  const folder = `/sys/fs/cgroup/unified/${ownName}`;
  Deno.mkdirSync(folder);
  return { tasks: `${folder}/cgroup.procs`, folder, [Symbol.dispose]: () => Deno.removeSync(folder) };
}

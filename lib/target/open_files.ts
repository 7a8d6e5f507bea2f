import { deviceNumber } from "../machine/device.ts";
import type { KernelFiles } from "../machine/files.ts";
import { inodeNumber } from "../machine/inode.ts";
import { fileKey, withoutDeleted } from "./maps.ts";

/** A file that a process had open. */
export interface OpenFile {
  /** The kernel's own number: see {@link deviceNumber}. */
  readonly dev: number;
  readonly inode: number;
  /** In the process's own mount namespace. */
  readonly path: string;
}

/** Whoever has more open files is told of so many. */
const MOST = 10_000;

/** Files that a process has open now, each once. A kernel before 5.14 says no inode, and the list is empty. */
export async function openFiles(files: KernelFiles, pid: number): Promise<OpenFile[]> {
  const links = await files.links(`/proc/${pid}/fd`);
  // Sockets and pipes are called otherwise, and what lies in memory is no device.
  const opened = [...links].filter(([, path]) => /^\/(?!dev\/(?!shm\/|hugepages\/)|proc\/|sys\/)/.test(path)).slice(0, MOST);
  if (opened.length === 0) return [];
  const devices = mountDevices(await files.text(`/proc/${pid}/mountinfo`) ?? "");
  const infos = await files.texts(opened.map(([fd]) => `/proc/${pid}/fdinfo/${fd}`));
  const found = new Map<string, OpenFile>();
  for (const [index, info] of infos.entries()) {
    const dev = devices.get(/^mnt_id:\s*(\d+)$/m.exec(info ?? "")?.[1] ?? "");
    const inode = /^ino:\s*(\d+)$/m.exec(info ?? "")?.[1];
    if (dev === undefined || inode === undefined) continue;
    const file = { dev, inode: inodeNumber(inode), path: withoutDeleted(opened[index]![1]) };
    found.set(fileKey(file), file);
  }
  return [...found.values()];
}

/** Devices of file systems, by the number of the mount. */
function mountDevices(mountinfo: string): Map<string, number> {
  const rows = mountinfo.matchAll(/^(\d+) \d+ (\d+):(\d+) /gm);
  return new Map(rows.map(([, mount, major, minor]) => [mount!, deviceNumber(Number(major), Number(minor))]));
}

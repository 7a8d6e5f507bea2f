import { toldDevice } from "../machine/device.ts";
import type { KernelFiles } from "../machine/files.ts";
import { mountOf, parseMounts } from "../machine/mounts.ts";

/** A file as a process knows it. */
export interface SeenFile {
  /** In its own mount namespace. */
  readonly path: string;
  /** A path that leads there from here. */
  readonly file: string;
}

/**
 * Which files these are, by `file`: a probe lives on the file below an overlay, and each container has an overlay of its own, with its own device number,
 * over files that it shares with others. There a file has the inode number of the one below, and the time of its last change, which tells apart what a
 * container has changed for itself: such a copy keeps the number. Elsewhere it is called as by `fileKey` of what is mapped.
 */
export async function filesBelow(files: KernelFiles, pid: number, seen: readonly SeenFile[]): Promise<Map<string, string>> {
  const [mounts, identities] = await Promise.all([files.text(`/proc/${pid}/mounts`), files.identities(seen.map(({ file }) => file))]);
  const mounted = parseMounts(mounts ?? "");
  return new Map(seen.flatMap(({ path, file }) => {
    const identity = identities.get(file);
    if (!identity) return [];
    const { device, inode, changed } = identity;
    return [[file, mountOf(path, mounted)?.type === "overlay" ? `${inode} ${changed}` : `${toldDevice(Number(device))}:${inode}`]];
  }));
}

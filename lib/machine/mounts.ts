/** A line of `/proc/self/mounts`. */
export interface Mount {
  readonly place: string;
  readonly type: string;
  readonly options: readonly string[];
}

/** In the order in which they were made: a later one hides what lies below it. */
export function parseMounts(text: string): Mount[] {
  return text.split("\n").flatMap((line) => {
    const [, place, type, options] = line.split(" ");
    return options === undefined ? [] : [{ place: unescaped(place!), type: type!, options: options.split(",") }];
  });
}

/** A line of `/proc/self/mountinfo`. */
export interface PartMount extends Mount {
  /** The folder of the filesystem that is mounted: `/` is all of it. */
  readonly root: string;
}

/** `33 31 0:30 /docker/ID /sys/fs/cgroup/cpu ro,nosuid master:9 - cgroup cgroup rw,cpu`: options are the filesystem's. */
export function parseMountInfo(text: string): PartMount[] {
  return text.split("\n").flatMap((line) => {
    const [mount = "", filesystem = ""] = line.split(" - ");
    const [, , , root, place] = mount.split(" "), [type, , options] = filesystem.split(" ");
    return options === undefined ? [] : [{ root: unescaped(root!), place: unescaped(place!), type: type!, options: options.split(",") }];
  });
}

/** Where a path of the filesystem is, beginning with that place and the names below it one by one. Null when another part of it is mounted there. */
export function wayTo(path: string, { root, place }: PartMount): [place: string, ...below: string[]] | null {
  const names = (path: string) => path.split("/").filter((name) => name !== "");
  const above = names(root), all = names(path);
  return above.every((name, i) => name === all[i]) ? [place, ...all.slice(above.length)] : null;
}

/**
 * The mount that a path lies in: of those at or above it the last. The root hides none: where the machine started from memory it is mounted last, and
 * what was mounted before is moved into it.
 */
export function mountOf(path: string, mounts: readonly Mount[]): Mount | undefined {
  const above = mounts.filter(({ place }) => place !== "/" && (path === place || path.startsWith(`${place}/`)));
  return above.at(-1) ?? mounts.findLast(({ place }) => place === "/");
}

/**
 * The place of a mount that stands between a path of `/proc` or `/sys` and the kernel: a container's mask, or somebody's experiment. Null when
 * nothing does. Such a path is hidden by whatever is mounted at or above it and is not the kernel's own.
 */
export function hiding(path: string, mounts: readonly Mount[]): string | null {
  const top = mountOf(path, mounts);
  return top === undefined || top.place === "/" || kernels.has(top.type) ? null : top.place;
}

const kernels = new Set(["proc", "sysfs", "tracefs", "debugfs"]);

/** The kernel writes a space in a path as `\040`. */
function unescaped(place: string): string {
  return place.replaceAll(/\\(\d{3})/g, (_, octal) => String.fromCharCode(parseInt(octal, 8)));
}

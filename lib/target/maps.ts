import { lastPart } from "../events/text.ts";
import { deviceNumber } from "../machine/device.ts";
import { inodeNumber } from "../machine/inode.ts";

/** One line of `/proc/PID/maps`. */
export interface Mapping {
  /** The range as `/proc/PID/map_files` names it, without leading zeros: `5617d1b08000-5617d1b0a000`. */
  readonly range: string;
  readonly start: bigint;
  readonly end: bigint;
  readonly executable: boolean;
  /** Where in the file it begins, in bytes. */
  readonly offset: number;
  /** The kernel's own device number: see {@link deviceNumber}. */
  readonly dev: number;
  /** See {@link inodeNumber}; 0 for memory that is no file. */
  readonly inode: number;
  /** Path in the process's own mount namespace, `[heap]` and the like, or empty. */
  readonly path: string;
}

/** A file of which a process has executable pages. */
export interface Library {
  readonly dev: number;
  readonly inode: number;
  readonly path: string;
  /** Last part of the path. */
  readonly name: string;
  /** Its first executable mapping: the name below `/proc/PID/map_files`. */
  readonly range: string;
  /** Of all its mappings. */
  readonly bytes: number;
}

const line = /^([0-9a-f]+)-([0-9a-f]+) ..(.). ([0-9a-f]+) ([0-9a-f]+):([0-9a-f]+) (\d+) *(.*)$/s;

/** Lines that are none of the kernel's are passed over: the file may be cut short by the end of the process. */
export function parseMaps(text: string): Mapping[] {
  const mappings: Mapping[] = [];
  for (const row of text.split("\n")) {
    const found = line.exec(row);
    if (!found) continue;
    const [, from, to, execute, offset, major, minor, inode, rest] = found as unknown as string[];
    const start = BigInt(`0x${from}`);
    const end = BigInt(`0x${to}`);
    mappings.push({
      range: `${start.toString(16)}-${end.toString(16)}`,
      start,
      end,
      executable: execute === "x",
      offset: parseInt(offset!, 16),
      dev: deviceNumber(parseInt(major!, 16), parseInt(minor!, 16)),
      inode: inodeNumber(inode!),
      // A newline is the only byte that the kernel escapes here.
      path: withoutDeleted(rest!).replaceAll("\\012", "\n"),
    });
  }
  return mappings;
}

/** How the kernel words a path whose file was removed or replaced. */
export function withoutDeleted(path: string): string {
  return path.replace(/ \(deleted\)$/, "");
}

/** Which file it is: `<device>:<inode>`, on this machine and while it is mapped. */
export function fileKey({ dev, inode }: Pick<Mapping, "dev" | "inode">): string {
  return `${dev}:${inode}`;
}

/** It lies on a device of its own kind: without one, several may show the same file (overlayfs), or one several files by the same number (btrfs). */
export function hasOwnDevice({ dev }: Pick<Mapping, "dev">): boolean {
  return dev >= 2 ** 20;
}

/** One entry for each file, in the order of addresses. */
export function libraries(mappings: readonly Mapping[]): Library[] {
  const files = Map.groupBy(mappings.filter(({ inode }) => inode !== 0), fileKey);
  return [...files.values()].flatMap((all) => {
    const first = all.find(({ executable }) => executable);
    if (!first) return [];
    const { dev, inode, path, range } = first;
    const bytes = all.reduce((sum, { start, end }) => sum + Number(end - start), 0);
    return { dev, inode, path, name: lastPart(path), range, bytes };
  });
}

import type { FilesOnce } from "../machine/files_once.ts";
import { keyOf } from "../programs/found_libraries.ts";
import { libraries, parseMaps } from "../target/maps.ts";
import type { ProcessStat } from "../target/process.ts";

/** A process that has mapped some of the files that are asked for. */
export interface Sharer {
  readonly pid: number;
  readonly comm: string;
  /** Names of these files. */
  readonly shared: readonly string[];
}

/** Who of these has mapped one of the files: their names, by {@link FoundLibrary.key}. */
export async function sharersOf(
  files: FilesOnce,
  processes: Iterable<Pick<ProcessStat, "pid" | "comm">>,
  watched: ReadonlyMap<string, string>,
): Promise<Sharer[]> {
  const all = [...processes].sort((a, b) => a.pid - b.pid);
  const maps = await files.texts(all.map(({ pid }) => `/proc/${pid}/maps`));
  const found = await Promise.all(all.map(async ({ pid, comm }, i) => ({ pid, comm, shared: await sharedBy(files, pid, maps[i] ?? "", watched) })));
  return found.filter(({ shared }) => shared.length > 0);
}

async function sharedBy(files: FilesOnce, pid: number, maps: string, watched: ReadonlyMap<string, string>): Promise<string[]> {
  const names = new Set(watched.values());
  // Of most processes nothing has to be taken apart.
  if (![...names].some((name) => maps.includes(name))) return [];
  const mapped = libraries(parseMaps(maps));
  const keys = await Promise.all(mapped.filter(({ name }) => names.has(name)).map((library) => keyOf(files, pid, mapped, library)));
  return keys.flatMap((key) => watched.get(key) ?? []);
}

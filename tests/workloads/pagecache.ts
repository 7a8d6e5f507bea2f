import { mustRun } from "../harness/command.ts";
import { built } from "../setup/programs.ts";

/** Bytes of a file that are in the page cache, as mincore says. */
export async function residentBytes(path: string): Promise<number> {
  return Number((await mustRun([built.pagecache, "resident", path])).stdout);
}

/**
 * Writes a file back and drops it from the page cache, and nothing else with it, so that tests do not disturb each other. Returns the bytes
 * that stayed: pages that a process has mapped, and every page of a file system that lives in memory.
 */
export async function dropFromCache(path: string): Promise<number> {
  return Number((await mustRun([built.pagecache, "drop", path], { timeoutMilliseconds: 120_000 })).stdout);
}

import type { IoResult, RequestsResult } from "./io_schema.ts";

type Seen = Pick<IoResult, "devices" | "files" | "quality">;

/** Fewer bytes need no word. Who asked disks for less of what came let others ask; where less came of what it asked for itself, most went past the cache. */
export const ENOUGH = 1 << 20, ITSELF = 0.25;

/** Of disks, by requests of the target's own. */
export function bytesOf({ devices }: Pick<Seen, "devices">, kind: RequestsResult["what"]): number {
  return devices.reduce((sum, { what, bytes }) => what === kind ? sum + bytes : sum, 0);
}

/** Bytes that came into memory for the target. */
export function cameOf({ files }: Pick<Seen, "files">): number {
  return files.reduce((sum, { cachedBytes }) => sum + (cachedBytes ?? 0), 0);
}

/** Whether others fetched most of these for it: a network or a user's file system, or threads of the kernel. */
export function areFetchedByOthers(seen: Seen): boolean {
  const came = cameOf(seen);
  // Which requests were lost nobody knows; where there was none, none was.
  if (seen.devices.length === 0) return came > 0;
  // Pages enter the cache before they are read: who was not answered yet asked for some of them.
  if (seen.devices.some(({ what, unanswered }) => what === "read" && unanswered > 0)) return false;
  return came >= ENOUGH && bytesOf(seen, "read") < ITSELF * came && seen.quality.lostEvents === 0;
}

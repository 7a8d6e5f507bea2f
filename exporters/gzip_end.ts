import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, gzipSync } from "node:zlib";

const MARK = 0;

/**
 * Whether a member that is put behind what is compressed in these `blocks` could be read: not where the last one has no end, as after a power cut, nor
 * where something else is behind it. Unpacks all of it, and keeps nothing.
 */
export async function takesMembers(blocks: Iterable<Uint8Array>): Promise<boolean> {
  let last: number | undefined;
  const withMember = function* () {
    yield* blocks;
    yield gzipSync(Uint8Array.of(MARK));
  };
  try {
    await pipeline(Readable.from(withMember()), createGunzip().on("data", (bytes: Uint8Array) => last = bytes.at(-1)));
  } catch {
    return false;
  }
  return last === MARK;
}

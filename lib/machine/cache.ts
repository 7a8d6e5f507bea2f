import { createHash, randomUUID } from "node:crypto";

/**
 * What has to be found out once: which features a bpftrace has, what a hit costs here. It holds for this file of bpftrace until the machine starts
 * anew: with another kernel, perhaps, or on another processor.
 */
export interface CacheKey extends KeyFile {
  /** It leads to this file: another one there is another bpftrace. */
  readonly path: string;
  /** Where it is a script, the files that this names: what it starts may be replaced while it stays as it is. */
  readonly named: readonly KeyFile[];
  /** `/proc/sys/kernel/random/boot_id`. */
  readonly boot: string;
}

interface KeyFile {
  readonly dev: number;
  readonly inode: number;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
}

/** No script that starts a bpftrace comes near it. */
const LARGEST_SCRIPT = 1 << 16;

/** Null where there is no such file. */
export function cacheKey(bpftrace: string, boot: string): CacheKey | null {
  const file = keyFile(bpftrace);
  return file && { path: bpftrace, ...file, named: file.bytes <= LARGEST_SCRIPT ? namedIn(bpftrace) : [], boot: boot.trim() };
}

function keyFile(path: string): KeyFile | null {
  try {
    const { isFile, dev, ino, size, mtime } = Deno.statSync(path);
    return isFile ? { dev, inode: ino!, bytes: size, modified: mtime!.getTime() } : null;
  } catch {
    return null;
  }
}

/** `exec /opt/bpftrace/usr/bin/bpftrace "$@"`. */
function namedIn(path: string): KeyFile[] {
  try {
    const text = Deno.readTextFileSync(path);
    const names = text.startsWith("#!") ? text.match(/\/[\w./+@-]+/g) ?? [] : [];
    return [...new Set(names)].map(keyFile).filter((file) => file !== null);
  } catch {
    return [];
  }
}

/** For what holds with any bpftrace. */
export function machineKey({ boot }: CacheKey): CacheKey {
  return { path: "", dev: 0, inode: 0, bytes: 0, modified: 0, named: [], boot };
}

/** Where it lies, and whose it has to be; a test has a place of its own. */
export interface CachePlace {
  readonly folder: string;
  readonly uid: number;
}

/** Its user is root, because a run that learns something is one that traces. */
export const systemPlace: CachePlace = { folder: "/var/cache/llmprof", uid: 0 };

const FORMAT = 2;
/** No entry comes near it; a larger file is not one of ours. */
const LARGEST = 1 << 20;

/**
 * A file for each kind of knowledge and path of bpftrace. Nobody but root may have had a hand in it: the folder and each file must be
 * root's own and closed to all others, links are not followed, and what is not as it should be is as if it were not there. A write that fails
 * costs only the time to find out again.
 */
export class Cache {
  constructor(readonly key: CacheKey, readonly place: CachePlace = systemPlace) {}

  /** What was kept under this key, as JSON gives it: the caller decides whether it can be used. Null when there is nothing. */
  read(kind: string): unknown {
    try {
      if (!this.#isOurs(Deno.lstatSync(this.place.folder), "isDirectory")) return null;
      const path = this.#path(kind);
      if (Deno.lstatSync(path).isSymlink) return null;
      using file = Deno.openSync(path);
      // Of what was opened, not of what the name meant a moment ago.
      const stat = file.statSync();
      if (!this.#isOurs(stat, "isFile") || stat.size > LARGEST) return null;
      const bytes = new Uint8Array(stat.size);
      for (let at = 0; at < bytes.length;) {
        const n = file.readSync(bytes.subarray(at));
        if (n === null) return null;
        at += n;
      }
      const entry = JSON.parse(new TextDecoder().decode(bytes));
      return entry.format === FORMAT && JSON.stringify(entry.key) === JSON.stringify(this.key) ? entry.value ?? null : null;
    } catch {
      return null;
    }
  }

  /** Returns whether it was kept. An entry with another key is replaced. */
  write(kind: string, value: unknown): boolean {
    const { folder } = this.place;
    // A new file that takes the place of the old one: whoever reads sees one of them whole, and a link that lies there is replaced, not followed.
    const fresh = `${folder}/${randomUUID()}`;
    try {
      makeFolder(folder);
      if (!this.#isOurs(Deno.lstatSync(folder), "isDirectory")) return false;
      Deno.writeTextFileSync(fresh, JSON.stringify({ format: FORMAT, key: this.key, value }), { createNew: true, mode: 0o600 });
      Deno.renameSync(fresh, this.#path(kind));
      return true;
    } catch {
      remove(fresh);
      return false;
    }
  }

  #path(kind: string): string {
    return `${this.place.folder}/${kind}-${createHash("sha256").update(this.key.path).digest("hex").slice(0, 16)}.json`;
  }

  #isOurs(stat: Deno.FileInfo, type: "isFile" | "isDirectory"): boolean {
    return stat[type] && stat.uid === this.place.uid && (stat.mode! & 0o077) === 0;
  }
}

/** For nobody else; one that is there stays as it is. */
export function makeFolder(folder: string): void {
  try {
    Deno.mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
}

function remove(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // It was never made.
  }
}

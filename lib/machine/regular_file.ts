import * as fs from "node:fs";
import { dirname, extname } from "node:path";
import { toldDevice } from "./device.ts";

/** Whose a new file shall be, when it is not to be llmprof's own. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Of what was made; `at`: its descriptor, or its path. Where llmprof may not give it away, or the file system keeps no owners, it stays llmprof's own. */
export function handOver(at: number | string, { uid, gid }: Owner): void {
  try {
    if (typeof at === "number") fs.fchownSync(at, uid, gid);
    else fs.lchownSync(at, uid, gid);
  } catch (error) {
    // EINVAL: a user whom this namespace does not know.
    if (!["EPERM", "EINVAL", "ENOTSUP"].includes((error as NodeJS.ErrnoException).code!)) throw error;
  }
}

/** `grow`: every write goes to the end, wherever that is by then; what is there can be read, as with `change`. */
const ACCESS = { write: fs.constants.O_WRONLY, change: fs.constants.O_RDWR, grow: fs.constants.O_RDWR | fs.constants.O_APPEND } as const;
export type Access = keyof typeof ACCESS;

/** A file that llmprof leaves alone; the message goes on after its path: `is a link.` */
export class RefusedFile extends Error {
  override readonly name = "RefusedFile";
}

/**
 * Files in folders that others may write to. Deno follows links before it opens a file, whatever the flags say; so a file is opened without
 * being changed, and is used only when the path then names this very file, a regular one with a single name: what somebody planted there
 * (a link, a second name of another file, a FIFO, a device) is never written to, however it is exchanged meanwhile.
 *
 * Links in the folders of the path are followed, as everywhere.
 */
export class RegularFile {
  /** `isNew`: it was not there before. */
  private constructor(readonly path: string, readonly fd: number, readonly isNew = false) {}

  /** Throws {@link RefusedFile}, or what the system says. */
  static open(path: string): RegularFile {
    // A FIFO without a writer would keep us waiting.
    return RegularFile.#checked(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK, null);
  }

  /** A file that must not exist, of that owner. */
  static createNew(path: string, owner: Owner | null, access: Access = "write"): RegularFile {
    const { O_CREAT, O_EXCL } = fs.constants;
    const file = new RegularFile(path, fs.openSync(path, ACCESS[access] | O_CREAT | O_EXCL, 0o666), true);
    if (owner) handOver(file.fd, owner);
    return file;
  }

  /** The same, and where the name is taken, of the next one: `a.json`, `a-2.json` … */
  static createNext(path: string, owner: Owner | null): RegularFile {
    const extension = extname(path), stem = path.slice(0, path.length - extension.length);
    for (let n = 1;; n++) {
      try {
        return RegularFile.createNew(n === 1 ? path : `${stem}-${n}${extension}`, owner);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      }
    }
  }

  /** A file of that owner, or one that is there, whose contents stay until {@link truncate} and which stays whose it is. */
  static create(path: string, owner: Owner | null, access: Access = "write"): RegularFile {
    try {
      return RegularFile.createNew(path, owner, access);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    try {
      // Without O_CREAT, which would make what a link leads to that has just been put there.
      return RegularFile.#checked(path, ACCESS[access] | fs.constants.O_NONBLOCK, owner);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
    // It was there, and is not any more.
    return RegularFile.create(path, owner, access);
  }

  static #checked(path: string, flags: number, owner: Owner | null): RegularFile {
    refuse(fs.lstatSync(path));
    const file = new RegularFile(path, fs.openSync(path, flags));
    try {
      const [opened, named] = [fs.fstatSync(file.fd), fs.lstatSync(path)];
      refuse(named);
      refuse(opened);
      if (opened.dev !== named.dev || opened.ino !== named.ino) throw new RefusedFile("was exchanged while it was opened.");
      const writes = (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) !== 0;
      if (writes && opened.nlink > 1) throw new RefusedFile("has a second name (a hard link).");
      // Whoever owns it reads what is written.
      if (writes && opened.uid !== 0 && isPlanted(opened.uid, dirname(path), owner)) {
        throw new RefusedFile(`belongs to another user (uid ${opened.uid}).`);
      }
      return file;
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** Bytes at the time of asking. */
  get size(): number {
    return fs.fstatSync(this.fd).size;
  }

  /** Fills `buffer` and returns how many bytes; null at the end. */
  read(buffer: Uint8Array): number | null {
    return fs.readSync(this.fd, buffer) || null;
  }

  /** Whether it is this very file: the kernel's own device number (major × 2^20 + minor), and the inode. Never where that is above 2^53: Deno rounds it. */
  is(dev: number, inode: number): boolean {
    const stat = fs.fstatSync(this.fd);
    return stat.ino === inode && toldDevice(stat.dev) === dev;
  }

  /** `length` bytes from `at`, fewer at its end. */
  readAt(at: number, length: number): Uint8Array {
    const bytes = new Uint8Array(Math.max(0, Math.min(length, this.size - at)));
    let done = 0;
    for (let n = 1; n > 0 && done < bytes.length; done += n) n = fs.readSync(this.fd, bytes, done, bytes.length - done, at + done);
    return bytes.subarray(0, done);
  }

  /** All of it, or an error when it is longer. */
  readAll(most: number): Uint8Array {
    if (this.size > most) throw new RefusedFile(`is longer than ${most} bytes.`);
    const bytes = new Uint8Array(most);
    let length = 0;
    for (let n: number | null = 0; n !== null && length < most; n = this.read(bytes.subarray(length))) length += n;
    return bytes.subarray(0, length);
  }

  truncate(length = 0): void {
    fs.ftruncateSync(this.fd, length);
  }

  /** Throws where the file has been removed, too: the kernel goes on taking bytes for one that has no name any more. */
  write(bytes: Uint8Array): void {
    this.mustExist();
    // One call may take a part only, near the limit of a disk.
    for (let done = 0; done < bytes.length;) done += fs.writeSync(this.fd, bytes, done, bytes.length - done);
  }

  /** `at`: bytes from the beginning of the file. */
  writeAt(bytes: Uint8Array, at: number): void {
    for (let done = 0; done < bytes.length;) done += fs.writeSync(this.fd, bytes, done, bytes.length - done, at + done);
  }

  /** Throws NotFound when its last name was removed. */
  mustExist(): void {
    if (fs.fstatSync(this.fd).nlink === 0) throw new Deno.errors.NotFound("It was removed while it was written");
  }

  /** Returns when its bytes are on the disk. */
  sync(): void {
    fs.fsyncSync(this.fd);
  }

  close(): void {
    fs.closeSync(this.fd);
  }

  /** Closes it, where nothing was written: leaves what was there before, and what another run has added to a new one meanwhile. */
  discard(): void {
    const isEmpty = this.size === 0;
    this.close();
    if (this.isNew && isEmpty) Deno.removeSync(this.path);
  }
}

/** Whether a file of this user's may lie there to be filled by another: users who share a folder that is not everybody's write into one another's. */
function isPlanted(uid: number, folder: string, owner: Owner | null): boolean {
  const own = owner?.uid ?? ownUid(folder);
  const isEverybodys = (fs.statSync(folder).mode & 0o1000) !== 0;
  return uid !== own && (owner !== null || own === 0 || isEverybodys);
}

/**
 * Who llmprof writes as in that folder: whose a new file is, there, or where none may be made there, among temporary files. Deno tells it otherwise only to
 * who may ask for facts of the system.
 */
function ownUid(folder: string): number {
  try {
    return ownerOfNew(`${folder}/.llmprof-${crypto.randomUUID()}`);
  } catch {
    const temporary = Deno.makeTempDirSync();
    try {
      return ownerOfNew(`${temporary}/new`);
    } finally {
      fs.rmdirSync(temporary);
    }
  }
}

function ownerOfNew(path: string): number {
  const file = RegularFile.createNew(path, null);
  try {
    fs.unlinkSync(path);
    return fs.fstatSync(file.fd).uid;
  } finally {
    file.close();
  }
}

function refuse(stat: fs.Stats): void {
  if (stat.isFile()) return;
  const what = stat.isSymbolicLink()
    ? "is a link, and may lead anywhere."
    : stat.isDirectory()
    ? "is a folder."
    : stat.isFIFO()
    ? "is a FIFO."
    : stat.isSocket()
    ? "is a socket."
    : "is a device.";
  throw new RefusedFile(what);
}

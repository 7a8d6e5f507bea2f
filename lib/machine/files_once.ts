import type { FileIdentity, KernelFiles } from "./files.ts";

/** Bytes of a file that are read at once: most tables of a library lie in one or two such pieces. */
const BLOCK = 1 << 20;

/** `length` bytes from `offset`, fewer at the end; null when they cannot be read. */
type ReadBytes = (offset: number, length: number) => Promise<Uint8Array | null>;

/**
 * Reads each thing once: for one look at a process and its libraries, which is over before anything of it changes. A read may be a child
 * process (in a container every one is), and several look for their functions in the same library, a few bytes here and there.
 */
export class FilesOnce implements KernelFiles {
  readonly #texts = new Map<string, Promise<string | null>>();
  readonly #links = new Map<string, Promise<string | null>>();
  readonly #blocks = new Map<string, Promise<Uint8Array | null>>();
  readonly #made = new Map<string, Promise<unknown>>();
  readonly #numbers = new Map<unknown, number>();

  constructor(readonly files: KernelFiles) {}

  text(path: string): Promise<string | null> {
    return once(this.#texts, path, () => this.files.text(path));
  }

  link(path: string): Promise<string | null> {
    return once(this.#links, path, () => this.files.link(path));
  }

  bytes(path: string, offset: number, length: number): Promise<Uint8Array | null> {
    return this.piece(path, offset, length, (offset, length) => this.files.bytes(path, offset, length));
  }

  /** A piece of the file of that name, which `read` reads. What is longer than a block is read as it is. */
  async piece(name: string, offset: number, length: number, read: ReadBytes): Promise<Uint8Array | null> {
    const first = Math.floor(offset / BLOCK), last = Math.floor((offset + length - 1) / BLOCK);
    if (!Number.isSafeInteger(offset) || offset < 0 || !(length > 0) || last > first + 1) return await read(offset, length);
    const block = (index: number) => onceThere(this.#blocks, `${index} ${name}`, () => read(index * BLOCK, BLOCK));
    const [begin, rest] = await Promise.all([block(first), last > first ? block(last) : null]);
    if (!begin || (last > first && !rest)) return null;
    const inFirst = begin.subarray(offset - first * BLOCK, offset - first * BLOCK + length);
    // The first is shorter than a block where the file ends in it.
    if (!rest || begin.length < BLOCK) return inFirst;
    const both = new Uint8Array(inFirst.length + Math.min(length - inFirst.length, rest.length));
    both.set(inFirst);
    both.set(rest.subarray(0, length - inFirst.length), inFirst.length);
    return both;
  }

  /** What is made of what is read, made once for these words and these very objects. */
  made<T>(of: readonly (string | object)[], make: () => Promise<T>): Promise<T> {
    const words = of.map((one) => typeof one === "string" ? one : `#${this.#number(one)}`);
    return onceThere(this.#made as Map<string, Promise<T>>, words.join(" "), make);
  }

  #number(of: object): number {
    const number = this.#numbers.get(of) ?? this.#numbers.size;
    this.#numbers.set(of, number);
    return number;
  }

  texts(paths: readonly string[]): Promise<(string | null)[]> {
    return this.files.texts(paths);
  }

  list(dir: string): Promise<string[]> {
    return this.files.list(dir);
  }

  grandchildren(dir: string): Promise<string[]> {
    return this.files.grandchildren(dir);
  }

  links(dir: string): Promise<Map<string, string>> {
    return this.files.links(dir);
  }

  realPath(path: string): Promise<string | null> {
    return this.files.realPath(path);
  }

  exists(path: string): Promise<boolean> {
    return this.files.exists(path);
  }

  modes(paths: readonly string[]): Promise<Map<string, number>> {
    return this.files.modes(paths);
  }

  identities(paths: readonly string[]): Promise<Map<string, FileIdentity>> {
    return this.files.identities(paths);
  }
}

function once<T>(known: Map<string, Promise<T>>, key: string, read: () => Promise<T>): Promise<T> {
  let found = known.get(key);
  if (!found) known.set(key, found = read());
  return found;
}

/** Neither null nor a failure is kept: of a file that several processes have mapped, the one through which it was looked at may have ended. */
async function onceThere<T>(known: Map<string, Promise<T>>, key: string, read: () => Promise<T>): Promise<T> {
  const before = known.get(key);
  if (before && await before.catch(() => null) !== null) return before;
  const own = read();
  known.set(key, own);
  return await own;
}

/**
 * What the kernel says in files. The port is small because a test replaces it by a folder. Every way of failing (absent, forbidden, gone
 * while it was read) is the same answer, null or empty: under `/proc` they cannot be told apart, and nobody acts on the difference.
 */
export interface KernelFiles {
  /** The whole file as text; each byte that is no UTF-8 is `\xNN`. */
  text(path: string): Promise<string | null>;
  /** Many small files in one go, in the order asked for. */
  texts(paths: readonly string[]): Promise<(string | null)[]>;
  /** `length` bytes from `offset`; fewer at the end of the file. */
  bytes(path: string, offset: number, length: number): Promise<Uint8Array | null>;
  /** Names in a folder, unsorted. */
  list(dir: string): Promise<string[]>;
  /** Names of the folders two levels below, as `category/name`. */
  grandchildren(dir: string): Promise<string[]>;
  /** Target of a symbolic link, as the kernel words it (`pid:[4026531836]`). */
  link(path: string): Promise<string | null>;
  /** The symbolic links in a folder: name → target. */
  links(dir: string): Promise<Map<string, string>>;
  /** The same file's path with every link followed, as the kernel names it. */
  realPath(path: string): Promise<string | null>;
  exists(path: string): Promise<boolean>;
  /** Permission bits of those paths that are regular files, links followed. */
  modes(paths: readonly string[]): Promise<Map<string, number>>;
  /** Of those paths that are regular files, links followed: what tells them from others. */
  identities(paths: readonly string[]): Promise<Map<string, FileIdentity>>;
}

/** In the words of `find`. */
export interface FileIdentity {
  readonly device: string;
  readonly inode: string;
  /** When its content, its owner or the like was changed last. */
  readonly changed: string;
}

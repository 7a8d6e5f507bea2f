import { textOf } from "../events/text.ts";
import type { FileIdentity, KernelFiles } from "./files.ts";
import { runChild, runReader, type User } from "./child.ts";

/** Renewed at each boot and the same at each read: it stands before the first and behind each of the files in one `cat`. */
const separatorPath = "/proc/sys/kernel/random/boot_id";
/** Two paths of at most some 40 bytes for each file: far below the limit on a command line. */
const filesPerCat = 500;

/**
 * Reads through `cat`, `dd` and `find`, because Deno opens `/proc`, `/sys` and `/dev` only to a process that was granted everything. A call
 * costs about 1.5 ms whatever it reads, so callers batch.
 */
export class ReaderFiles implements KernelFiles {
  /** `user`: who sees them; llmprof itself when absent. */
  constructor(readonly user: User | null = null) {}

  async text(path: string): Promise<string | null> {
    const { code, stdout } = await this.#read("cat", [absolute(path)]);
    return code === 0 ? textOf(stdout) : null;
  }

  async texts(paths: readonly string[]): Promise<(string | null)[]> {
    const found: (string | null)[] = [];
    for (let from = 0; from < paths.length; from += filesPerCat) {
      found.push(...await this.#catMany(paths.slice(from, from + filesPerCat)));
    }
    return found;
  }

  async bytes(path: string, offset: number, length: number): Promise<Uint8Array | null> {
    if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length) || offset < 0 || length < 0) return null;
    if (length === 0) return new Uint8Array();
    // `fullblock`: a short read in the middle of a file would otherwise count as a block. `nonblock`: nobody waits for what is no plain file.
    const args = [
      `if=${absolute(path)}`,
      "iflag=skip_bytes,count_bytes,fullblock,nonblock",
      `skip=${offset}`,
      `count=${length}`,
      "bs=1M",
      "status=none",
    ];
    const { code, stdout } = await this.#read("dd", args);
    return code === 0 ? stdout : null;
  }

  async list(dir: string): Promise<string[]> {
    return await this.#find([dir], ["-mindepth", "1", "-maxdepth", "1", "-printf", "%f\\0"]);
  }

  async grandchildren(dir: string): Promise<string[]> {
    return await this.#find([dir], ["-mindepth", "2", "-maxdepth", "2", "-type", "d", "-printf", "%P\\0"]);
  }

  async link(path: string): Promise<string | null> {
    return (await this.#find([path], ["-maxdepth", "0", "-type", "l", "-printf", "%l\\0"]))[0] ?? null;
  }

  async links(dir: string): Promise<Map<string, string>> {
    const fields = await this.#find([dir], ["-mindepth", "1", "-maxdepth", "1", "-type", "l", "-printf", "%f\\0%l\\0"]);
    const links = new Map<string, string>();
    for (let i = 0; i + 1 < fields.length; i += 2) links.set(fields[i]!, fields[i + 1]!);
    return links;
  }

  async realPath(path: string): Promise<string | null> {
    const { code, stdout } = await runChild({ program: "readlink", args: ["-e", "-n", "--", path], user: this.user ?? undefined });
    return code === 0 ? stdout : null;
  }

  async exists(path: string): Promise<boolean> {
    return (await this.#find([path], ["-maxdepth", "0", "-printf", "y\\0"])).length > 0;
  }

  async modes(paths: readonly string[]): Promise<Map<string, number>> {
    return new Map((await this.#regular(paths, "%m")).map(([path, mode]) => [path, parseInt(mode, 8)]));
  }

  async identities(paths: readonly string[]): Promise<Map<string, FileIdentity>> {
    return new Map((await this.#regular(paths, "%D %i %C@")).map(([path, said]) => {
      const [device, inode, changed] = said.split(" ");
      return [path, { device: device!, inode: inode!, changed: changed! }];
    }));
  }

  async #catMany(paths: readonly string[]): Promise<(string | null)[]> {
    const others = paths.filter((path) => path !== separatorPath);
    const args = [separatorPath, ...others.flatMap((path) => [absolute(path), separatorPath])];
    const { stdout, complaints } = await this.#read("cat", args, "piped");
    const said = textOf(stdout), refused = textOf(complaints);
    const separator = /^[0-9a-f-]{36}\n/.exec(said)?.[0];
    const pieces = separator === undefined ? [] : said.slice(separator.length).split(separator);
    // A process may write the boot id into its own command line: then there are too many pieces, and none of them is believed.
    if (separator === undefined || pieces.length !== others.length + 1) return await Promise.all(paths.map((path) => this.text(path)));
    // A path with a space, a colon or a backslash stands in quotes there: whether it is empty or not there is asked again.
    const isQuoting = /cat: ['"]/.test(refused);
    const read = async (path: string, i: number): Promise<string | null> => {
      if (refused.includes(`cat: ${path}: `)) return null;
      return isQuoting && pieces[i] === "" ? await this.text(path) : pieces[i]!;
    };
    const found = new Map(await Promise.all(others.map(async (path, i) => [path, await read(path, i)] as const)));
    return paths.map((path) => path === separatorPath ? separator : found.get(path)!);
  }

  /** Those of the paths that are regular files, links followed, each with what is asked of it in find's words. */
  async #regular(paths: readonly string[], what: string): Promise<[path: string, said: string][]> {
    if (paths.length === 0) return [];
    const fields = await this.#find(paths, ["-maxdepth", "0", "-type", "f", "-printf", `${what}\\0%p\\0`], ["-L"]);
    return Array.from({ length: fields.length >> 1 }, (_, i) => [fields[2 * i + 1]!, fields[2 * i]!]);
  }

  /** `find` reports one bad path and goes on with the others, so its exit code says nothing about what it did print. */
  async #find(paths: readonly string[], expression: readonly string[], options: readonly string[] = []): Promise<string[]> {
    const { stdout } = await this.#read("find", [...options, ...paths.map(absolute), ...expression]);
    const fields = textOf(stdout).split("\0");
    fields.pop();
    return fields;
  }

  #read(program: Parameters<typeof runReader>[0], args: readonly string[], stderr?: "piped") {
    return runReader(program, args, stderr, this.user);
  }
}

/** A path that begins with `-` or `(` would be read as an option. */
function absolute(path: string): string {
  return path.startsWith("/") ? path : `./${path}`;
}

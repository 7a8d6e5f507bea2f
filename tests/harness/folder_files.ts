import { textOf } from "../../lib/events/text.ts";
import type { FileIdentity, KernelFiles } from "../../lib/machine/files.ts";

/** A folder that stands for the root of a machine. */
export class FolderFiles implements KernelFiles {
  constructor(readonly root: string) {}

  async text(path: string): Promise<string | null> {
    const whole = await orNull(() => Deno.readFile(this.root + path));
    return whole && textOf(whole);
  }

  async texts(paths: readonly string[]): Promise<(string | null)[]> {
    return await Promise.all(paths.map((path) => this.text(path)));
  }

  async bytes(path: string, offset: number, length: number): Promise<Uint8Array | null> {
    const whole = await orNull(() => Deno.readFile(this.root + path));
    return whole && whole.slice(offset, offset + length);
  }

  async list(dir: string): Promise<string[]> {
    return (await this.#entries(dir)).map((entry) => entry.name);
  }

  async grandchildren(dir: string): Promise<string[]> {
    const found: string[] = [];
    for (const child of await this.#entries(dir)) {
      if (!child.isDirectory) continue;
      for (const below of await this.#entries(`${dir}/${child.name}`)) {
        if (below.isDirectory) found.push(`${child.name}/${below.name}`);
      }
    }
    return found;
  }

  async link(path: string): Promise<string | null> {
    return await orNull(() => Deno.readLink(this.root + path));
  }

  async links(dir: string): Promise<Map<string, string>> {
    const links = new Map<string, string>();
    for (const entry of await this.#entries(dir)) {
      if (entry.isSymlink) links.set(entry.name, await Deno.readLink(`${this.root}${dir}/${entry.name}`));
    }
    return links;
  }

  async realPath(path: string): Promise<string | null> {
    const real = await orNull(() => Deno.realPath(this.root + path));
    return real && real.slice(this.root.length);
  }

  async exists(path: string): Promise<boolean> {
    return await orNull(() => Deno.lstat(this.root + path)) !== null;
  }

  async modes(paths: readonly string[]): Promise<Map<string, number>> {
    const modes = new Map<string, number>();
    for (const path of paths) {
      const stat = await orNull(() => Deno.stat(this.root + path));
      if (stat?.isFile) modes.set(path, stat.mode! & 0o7777);
    }
    return modes;
  }

  async identities(paths: readonly string[]): Promise<Map<string, FileIdentity>> {
    const found = new Map<string, FileIdentity>();
    for (const path of paths) {
      const stat = await orNull(() => Deno.stat(this.root + path));
      if (stat?.isFile) found.set(path, { device: String(stat.dev), inode: String(stat.ino), changed: String(stat.ctime?.getTime()) });
    }
    return found;
  }

  async #entries(dir: string): Promise<Deno.DirEntry[]> {
    return await orNull(() => Array.fromAsync(Deno.readDir(this.root + dir))) ?? [];
  }
}

async function orNull<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch {
    return null;
  }
}

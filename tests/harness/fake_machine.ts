import { dirname, join } from "node:path";
import { parseBpftrace } from "../../lib/machine/bpftrace.ts";
import type { Capabilities } from "../../lib/machine/capabilities.ts";
import { type NamedPlace, SymbolTables } from "../../lib/machine/symbol_tables.ts";
import { FolderFiles } from "./folder_files.ts";

/** A machine on which everything is there; `info` is what its bpftrace says of itself. */
export function capable(info = "bfd: yes\nringbuf: yes\nuprobe_multi: yes\n", tracepoints: Iterable<string> = []): Capabilities {
  return {
    root: true,
    effectiveCaps: 0x1ffffffffffn,
    sysAdmin: true,
    noNewPrivileges: false,
    seccomp: false,
    kernel: "6.18.44",
    arch: "x86_64",
    cpuModel: "Some CPU",
    cpus: 8,
    possibleCpus: 8,
    memoryBytes: 2 ** 34,
    pageBytes: 4096,
    governor: null,
    tracefs: "/sys/kernel/tracing",
    btf: true,
    hiddenBtf: null,
    lockdown: null,
    realtime: false,
    pidNamespaceIsInit: true,
    userNamespaceIsInit: true,
    counters: new Set(["cpu-cycles", "instructions"]),
    distribution: ["debian"],
    release: 12,
    bpftrace: parseBpftrace("/usr/bin/bpftrace", "bpftrace v0.23.2\n", info, "whole"),
    bpftracePath: "/usr/bin/bpftrace",
    cacheKey: null,
    tracepoints: new Set(tracepoints),
    tracepointFields: new Set(),
    hidingTracepoints: [],
  };
}

/** A line of `/proc/self/mountinfo`. `root`: what of the filesystem is mounted. */
export function mountLine(type: string, place: string, options = "rw", root = "/"): string {
  return `31 23 0:28 ${root} ${place} rw,nosuid shared:9 - ${type} ${type} ${options}\n`;
}

/** Keeps what bpftrace would be told. */
export class FakeSymbols extends SymbolTables {
  readonly added: NamedPlace[] = [];
  override get root(): string {
    return "/nowhere";
  }
  override get traceable(): string {
    return `${this.root}/traceable`;
  }
  override add(places: readonly NamedPlace[]): void {
    this.added.push(...places);
  }
  override remove(): void {}
}

/** The `/proc` of a machine as a folder: processes come, map files, stand still and go as the test says. */
export class FakeProc {
  readonly files: FolderFiles;
  readonly #maps = new Map<number, string[]>();

  constructor(readonly root: string) {
    this.files = new FolderFiles(root);
  }

  process(pid: number, ppid: number, comm: string, state = "S", startTicks = 100, userTicks = 150): void {
    const fields = `${state} ${ppid} 1 1 0 -1 0 1 0 1 0 ${userTicks} 25 0 0 20 0 1 0 ${startTicks} 6 7`;
    this.#write(`/proc/${pid}/stat`, `${pid} (${comm}) ${fields}\n`);
    this.#write(`/proc/${pid}/cmdline`, `${comm}\0--flag\0`);
    if (!this.#maps.has(pid)) this.#write(`/proc/${pid}/maps`, "");
  }

  /** The shell that will be the program, see lib/target/launch.ts. */
  standing(pid: number, ppid: number): void {
    this.process(pid, ppid, "sh", "T");
    this.#write(`/proc/${pid}/cmdline`, '/bin/sh\0-c\0kill -STOP $$; exec "$@"\0sh\0--\0node\0');
  }

  gone(pid: number): void {
    Deno.removeSync(join(this.root, `/proc/${pid}`), { recursive: true });
  }

  /** What `/proc/PID/exe` leads to. */
  program(pid: number, path: string): void {
    Deno.symlinkSync(path, join(this.root, `/proc/${pid}/exe`));
  }

  /** Maps a file for execution, at a place that follows from its inode. */
  map(pid: number, path: string, inode: number, content: Uint8Array): void {
    this.#map(pid, path, inode, 4095, "r-xp", content);
  }

  /** Maps so many bytes of a file to be read, behind what {@link map} maps. */
  data(pid: number, path: string, inode: number, bytes: number, content: Uint8Array): void {
    this.#map(pid, path, inode << 12, bytes, "r--s", content, inode);
  }

  #map(pid: number, path: string, place: number, bytes: number, how: string, content: Uint8Array, inode = place): void {
    const from = 0x7f0_0000_0000 + place * 4096;
    const range = `${from.toString(16)}-${(from + bytes).toString(16)}`;
    const lines = this.#maps.get(pid) ?? [];
    lines.push(`${range} ${how} 00000000 08:02 ${inode}    ${path}\n`);
    this.#maps.set(pid, lines);
    this.#write(`/proc/${pid}/maps`, lines.join(""));
    this.#write(`/proc/${pid}/map_files/${range}`, content);
  }

  /** The process lets go of all that it has mapped. */
  unmap(pid: number): void {
    this.#maps.delete(pid);
    this.#write(`/proc/${pid}/maps`, "");
  }

  #write(path: string, content: string | Uint8Array): void {
    Deno.mkdirSync(dirname(this.root + path), { recursive: true });
    Deno.writeFileSync(this.root + path, typeof content === "string" ? new TextEncoder().encode(content) : content);
  }
}

/** A machine of these files, for what reads a machine. */
export async function withMachine(texts: Record<string, string>, check: (files: FolderFiles, root: string) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir();
  try {
    for (const [path, text] of Object.entries(texts)) {
      await Deno.mkdir(root + path.slice(0, path.lastIndexOf("/")), { recursive: true });
      await Deno.writeTextFile(root + path, text);
    }
    await check(new FolderFiles(root), root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

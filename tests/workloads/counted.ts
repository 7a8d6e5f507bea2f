import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { built } from "../setup/programs.ts";

/** What a process calls with each copy of the library: see counted/main.c and counted/llama.c. */
export const countedCalls = { decodes: 97, graphs: 97, operators: 97 * 13 };

const libraries = ["libllama.so", "libggml-cpu-x64.so"];

/** Copies of the target's files in a folder, which may have any name. */
export interface CountedFiles {
  readonly program: string;
  readonly library: string;
  readonly linked: string;
  /** The same, large and not static: what a loader can be told to run. */
  readonly dynamic: string;
  /** A library of another name with all of it. */
  readonly addon: string;
}

export function copyCounted(folder: string): CountedFiles {
  Deno.mkdirSync(folder, { recursive: true });
  for (const name of ["counted", "linked", "dynamic", "engine.node", ...libraries]) copyFileSync(join(built.counted, name), join(folder, name));
  const path = (name: string) => join(folder, name);
  return { program: path("counted"), library: path("libllama.so"), linked: path("linked"), dynamic: path("dynamic"), addon: path("engine.node") };
}

/** Files of the folder that are libraries. */
export function librariesIn(folder: string): string[] {
  return libraries.map((name) => join(folder, name));
}

/** A root for a container or a chroot: the target in `/bin` and `/opt`, and what its loader needs. */
export function makeRoot(folder: string): void {
  for (const dir of ["bin", "opt", "proc", "sys", "dev", "tmp", "srv"]) Deno.mkdirSync(join(folder, dir), { recursive: true });
  const { program, linked } = copyCounted(join(folder, "opt"));
  for (const path of [program, linked]) Deno.renameSync(path, join(folder, "bin", path.slice(path.lastIndexOf("/") + 1)));
  for (const path of neededBy(join(built.counted, "counted"))) {
    Deno.mkdirSync(join(folder, path.slice(0, path.lastIndexOf("/"))), { recursive: true });
    copyFileSync(path, join(folder, path));
  }
}

/** The dynamic loader of this machine. */
export function loader(): string {
  return neededBy(join(built.counted, "counted")).find((path) => /\/ld[\w.-]*$/.test(path))!;
}

/** The loader and the libraries of a program, as its loader finds them. */
export function neededBy(program: string): string[] {
  const { stdout } = new Deno.Command("ldd", { args: [program] }).outputSync();
  return [...new TextDecoder().decode(stdout).matchAll(/(\/\S+) \(0x/g)].map(([, path]) => path!);
}

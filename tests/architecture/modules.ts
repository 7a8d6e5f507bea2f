import { join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { mustRun } from "../harness/command.ts";
import { temporary } from "../harness/temporary.ts";

/** A source file as the rules see it. */
export interface Module {
  /** In the repository: `lib/timeline/merge.ts`. */
  readonly path: string;
  readonly text: string;
  /** What it imports, for types alone and on demand included: paths in the repository, or specifiers with a scheme. */
  readonly imports: readonly string[];
}

interface Graph {
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly { readonly code?: { readonly specifier: string }; readonly type?: { readonly specifier: string } }[];
  }[];
}

/** The sources below `top`, or the files in those `folders` of it. Their imports are what Deno's own parser finds, and nothing is fetched for it. */
export async function readModules(top: string, folders: readonly string[] = ["lib", "probes", "exporters"]): Promise<Module[]> {
  const paths = [
    ...folders.flatMap((folder) => sources(top, folder)),
    ...["main.ts", "mod.ts"].filter((p) => exists(top, p)),
  ];
  using folder = temporary();
  // One module that imports every file, so that one graph holds those too that nobody imports.
  const all = folder.file("all.ts");
  await Deno.writeTextFile(all, paths.map((path) => `import ${JSON.stringify(pathToFileURL(join(top, path)).href)};\n`).join(""));
  const arguments_ = ["info", "--json", "--no-npm", "--no-remote", "--no-lock", "--config", join(top, "deno.json"), all];
  const { modules } = JSON.parse((await mustRun([Deno.execPath(), ...arguments_])).stdout) as Graph;
  const imports = new Map(modules.map(({ specifier, dependencies = [] }) => {
    const targets = dependencies.flatMap(({ code, type }) => [code, type]).filter((d) => d !== undefined);
    return [specifier, [...new Set(targets.map((d) => inRepository(top, d.specifier)))]];
  }));
  return paths.map((path) => ({
    path,
    text: Deno.readTextFileSync(join(top, path)),
    imports: imports.get(pathToFileURL(join(top, path)).href)!,
  }));
}

function inRepository(top: string, specifier: string): string {
  return specifier.startsWith("file:") ? relative(top, fileURLToPath(specifier)).replaceAll(sep, "/") : specifier;
}

function sources(top: string, folder: string): string[] {
  return [...Deno.readDirSync(join(top, folder))].flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    return isDirectory ? sources(top, path) : name.endsWith(".ts") ? [path] : [];
  }).sort();
}

function exists(top: string, path: string): boolean {
  return [...Deno.readDirSync(top)].some(({ name }) => name === path);
}

import { join } from "node:path";
import { run } from "../harness/command.ts";
import { findProgram } from "../harness/find_program.ts";
import { engineFolder } from "../harness/places.ts";
import { CannotSetUp, type Part } from "./part.ts";

const version = "3.22.1";
const binary = Deno.build.arch === "aarch64" ? "linux-arm64" : "linux-x64";

/** Where the engine's libraries lie: libllama, libggml and the CPU variants. */
const engineLibraries = join(engineFolder, "node_modules", "@node-llama-cpp", binary, "bins", binary);

/**
 * llama.cpp with CPU variants, prebuilt. A plain install also brings CUDA and Vulkan builds, about 1 GB, as optional dependencies, and runs a
 * script that looks for a compiler: both are left out.
 */
export const engine: Part = {
  name: "engine",
  what: `node-llama-cpp ${version} for the CPU`,
  isThere() {
    return [join(engineFolder, "node_modules", "node-llama-cpp", "package.json"), join(engineLibraries, "..", "..", "package.json")]
      .every((path) => versionIn(path) === version);
  },
  async make() {
    if (findProgram("npm") === null) throw new CannotSetUp("There is no npm.", "Install node 20 or newer with npm.");
    Deno.mkdirSync(engineFolder, { recursive: true });
    Deno.writeTextFileSync(join(engineFolder, "package.json"), `{ "private": true }\n`);
    const packages = [`node-llama-cpp@${version}`, `@node-llama-cpp/${binary}@${version}`];
    const flags = ["--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--save-exact", "--loglevel=error"];
    const npm = await run(["npm", "install", ...flags, ...packages], { cwd: engineFolder, timeoutMilliseconds: 600_000 });
    if (npm.code !== 0 || !this.isThere()) {
      throw new CannotSetUp(`npm could not install the engine: ${npm.stderr.trim().slice(-500)}`, "Check that npm reaches its registry: `npm ping`.");
    }
  },
};

function versionIn(path: string): string | undefined {
  try {
    return JSON.parse(Deno.readTextFileSync(path)).version;
  } catch {
    return undefined;
  }
}

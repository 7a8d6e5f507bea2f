import { join } from "node:path";
import { run } from "../harness/command.ts";
import { findProgram } from "../harness/find_program.ts";
import { isFile } from "../harness/is_file.ts";
import { CannotSetUp } from "./part.ts";

/**
 * Installs packages (`name@version`) into a folder of their own. A plain install of node-llama-cpp also brings CUDA and Vulkan builds, about 1 GB, as
 * optional dependencies, and runs a script that looks for a compiler: both are left out.
 */
export async function npmInstall(folder: string, packages: readonly string[]): Promise<void> {
  if (findProgram("npm") === null) throw new CannotSetUp("There is no npm.", "Install node 20 or newer with npm.");
  Deno.mkdirSync(folder, { recursive: true });
  const manifest = join(folder, "package.json");
  // Of what is installed there npm would take away all that it does not name.
  if (!isFile(manifest)) Deno.writeTextFileSync(manifest, `{ "private": true }\n`);
  const flags = ["--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--save-exact", "--loglevel=error"];
  const npm = await run(["npm", "install", ...flags, ...packages], { cwd: folder, timeoutMilliseconds: 600_000 });
  if (npm.code !== 0) {
    throw new CannotSetUp(`npm could not install the engine: ${npm.stderr.trim().slice(-500)}`, "Check that npm reaches its registry: `npm ping`.");
  }
}

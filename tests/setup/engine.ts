import { join } from "node:path";
import { engineFolder } from "../harness/places.ts";
import { install } from "./install.ts";
import { npmInstall } from "./npm_install.ts";
import { CannotSetUp, type Part, requireRoot } from "./part.ts";

/** Of node-llama-cpp and its libraries. */
const version = "3.22.1";
const binary = Deno.build.arch === "aarch64" ? "linux-arm64" : "linux-x64";

/** Where the engine's libraries lie: libllama, libggml and the CPU variants. */
const engineLibraries = join(engineFolder, "node_modules", "@node-llama-cpp", binary, "bins", binary);

/** llama.cpp with CPU variants, prebuilt. */
export const engine: Part = {
  name: "engine",
  what: `node-llama-cpp ${version} for the CPU`,
  isThere() {
    return [join(engineFolder, "node_modules", "node-llama-cpp", "package.json"), join(engineLibraries, "..", "..", "package.json")]
      .every((path) => versionIn(path) === version);
  },
  async make() {
    await npmInstall(engineFolder, [`node-llama-cpp@${version}`, `@node-llama-cpp/${binary}@${version}`]);
    if (!this.isThere()) throw new CannotSetUp("npm installed something else than the engine.", "Delete the folder .cache/engine and try again.");
  },
};

const vulkanBinary = "@node-llama-cpp/linux-x64-vulkan", cudaBinary = "@node-llama-cpp/linux-x64-cuda";

/** Whether the engine is there, and beside it the same built for something else. */
function isBeside(binary: string): boolean {
  return engine.isThere() && versionIn(join(engineFolder, "node_modules", binary, "package.json")) === version;
}

async function putBeside(binary: string): Promise<void> {
  if (!engine.isThere()) await engine.make();
  await npmInstall(engineFolder, [`${binary}@${version}`]);
}

function requireX86(): void {
  if (Deno.build.arch !== "x86_64") throw new CannotSetUp("There is no such build for this architecture.", "Use a machine with x86-64.");
}

/** The same built for Vulkan, beside it, and Mesa's drivers, of which llvmpipe computes on the CPU: a device that every machine has. */
export const vulkan: Part = {
  name: "vulkan",
  what: `node-llama-cpp ${version} for Vulkan, and Mesa`,
  isThere() {
    return isBeside(vulkanBinary) && drivers().some((name) => name.startsWith("lvp_icd"));
  },
  async make() {
    requireX86();
    requireRoot("Installing Mesa");
    await install(["mesa-vulkan-drivers", "libvulkan1"]);
    await putBeside(vulkanBinary);
  },
};

/** The same built for CUDA, beside it: for a machine that has such a GPU, and a driver as new as the build. */
export const cudaEngine: Part = {
  name: "cuda-engine",
  what: `node-llama-cpp ${version} for CUDA`,
  isThere() {
    return isBeside(cudaBinary);
  },
  async make() {
    requireX86();
    await putBeside(cudaBinary);
  },
};

/** Of Vulkan, by their descriptions. */
function drivers(): string[] {
  try {
    return [...Deno.readDirSync("/usr/share/vulkan/icd.d")].map(({ name }) => name);
  } catch {
    return [];
  }
}

function versionIn(path: string): string | undefined {
  try {
    return JSON.parse(Deno.readTextFileSync(path)).version;
  } catch {
    return undefined;
  }
}

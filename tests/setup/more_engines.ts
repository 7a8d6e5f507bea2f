import { join } from "node:path";
import { isFile } from "../harness/is_file.ts";
import { moreEngines as folder } from "../harness/places.ts";
import { npmInstall } from "./npm_install.ts";
import { CannotSetUp, type Part } from "./part.ts";

/** Engines of other years and other packages, each for what it has otherwise. */
const ENGINES = {
  /** December 2024: operators are computed by a function that is not exported. */
  "3.3": ["node-llama-cpp@3.3.0", "@node-llama-cpp/linux-x64@3.3.0"],
  /** October 2024: ggml is one file, and a tensor has a gradient. */
  "3.1": ["node-llama-cpp@3.1.1", "@node-llama-cpp/linux-x64@3.1.1"],
  /** Of early 2024: operators are computed in phases; all of it is in a library of another name. */
  gpt4all: ["gpt4all@4.0.0"],
  /** An addon of node with llama.cpp of 2026 in it, all compiled together: its calls of llama_decode are none. */
  "llama.node": ["@fugood/llama.node@1.7.15", "@fugood/node-llama-linux-x64@1.7.15"],
} as const;

export type MoreEngine = keyof typeof ENGINES;

/** Where the engine is installed. */
export const engineOf = (name: MoreEngine): string => join(folder, name);

/** The library of a node-llama-cpp that computes operators. */
export const computingLibrary = (name: "3.3" | "3.1"): string => {
  return join(engineOf(name), "node_modules/@node-llama-cpp/linux-x64/bins/linux-x64", name === "3.3" ? "libggml-cpu.so" : "libggml.so");
};

export const moreEngines: Part = {
  name: "more-engines",
  what: "engines of 2024, and one in an addon",
  isThere() {
    const packages = [["gpt4all", "gpt4all"], ["llama.node", "@fugood/node-llama-linux-x64"]] as const;
    const manifests = packages.map(([name, folder]) => join(engineOf(name), "node_modules", folder, "package.json"));
    return [computingLibrary("3.3"), computingLibrary("3.1"), ...manifests].every(isFile);
  },
  async make() {
    if (Deno.build.arch !== "x86_64") throw new CannotSetUp("There are no such builds for this architecture.", "Use a machine with x86-64.");
    for (const [name, packages] of Object.entries(ENGINES)) await npmInstall(join(folder, name), packages);
  },
};

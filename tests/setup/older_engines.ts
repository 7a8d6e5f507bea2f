import { join } from "node:path";
import { isFile } from "../harness/is_file.ts";
import { olderEngines as folder } from "../harness/places.ts";
import { npmInstall } from "./npm_install.ts";
import { CannotSetUp, type Part } from "./part.ts";

/** Engines as their packages brought them years ago, each for what its ggml has otherwise. */
const ENGINES = {
  /** December 2024: operators are computed by a function that is not exported. */
  "3.3": ["node-llama-cpp@3.3.0", "@node-llama-cpp/linux-x64@3.3.0"],
  /** October 2024: ggml is one file, and a tensor has a gradient. */
  "3.1": ["node-llama-cpp@3.1.1", "@node-llama-cpp/linux-x64@3.1.1"],
  /** Of early 2024: operators are computed in phases; all of it is in a library of another name. */
  gpt4all: ["gpt4all@4.0.0"],
} as const;

export type OlderEngine = keyof typeof ENGINES;

/** Where the engine is installed. */
export const olderEngine = (name: OlderEngine): string => join(folder, name);

/** The library of a node-llama-cpp that computes operators. */
export const computingLibrary = (name: "3.3" | "3.1"): string => {
  return join(olderEngine(name), "node_modules/@node-llama-cpp/linux-x64/bins/linux-x64", name === "3.3" ? "libggml-cpu.so" : "libggml.so");
};

export const olderEngines: Part = {
  name: "older-engines",
  what: "engines of 2024",
  isThere() {
    return [computingLibrary("3.3"), computingLibrary("3.1"), join(olderEngine("gpt4all"), "node_modules/gpt4all/package.json")].every(isFile);
  },
  async make() {
    if (Deno.build.arch !== "x86_64") throw new CannotSetUp("There are no such builds for this architecture.", "Use a machine with x86-64.");
    for (const [name, packages] of Object.entries(ENGINES)) await npmInstall(join(folder, name), packages);
  },
};

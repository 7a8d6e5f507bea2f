import { findProgram } from "../harness/find_program.ts";
import { install } from "./install.ts";
import { CannotSetUp, type Part } from "./part.ts";

/** Where probes can be placed in aarch64 code is tested on files that are compiled here, whatever this machine is. */
export const crossCompiler: Part = {
  name: "aarch64",
  what: "a C compiler for aarch64",
  lane: "packages",
  isThere: () => findProgram("aarch64-linux-gnu-gcc") !== null && findProgram("aarch64-linux-gnu-objdump") !== null,
  async make() {
    if (Deno.uid() !== 0) throw new CannotSetUp("There is no C compiler for aarch64.", "Type `sudo apt-get install gcc-aarch64-linux-gnu`.");
    await install(["gcc-aarch64-linux-gnu"]);
  },
};

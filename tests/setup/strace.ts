import { findProgram } from "../harness/find_program.ts";
import { install } from "./install.ts";
import { type Part, requireRoot } from "./part.ts";

/** Counts system calls by another way than ours. */
export const strace: Part = {
  name: "strace",
  what: "strace",
  lane: "packages",
  isThere: () => findProgram("strace") !== null,
  async make() {
    requireRoot("Installing strace");
    await install(["strace"]);
  },
};

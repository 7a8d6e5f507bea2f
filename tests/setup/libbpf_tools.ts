import { findProgram } from "../harness/find_program.ts";
import { install } from "./install.ts";
import { type Part, requireRoot } from "./part.ts";

/** Tools of others that look at disks and processors, to compare with. */
export const libbpfTools: Part = {
  name: "libbpf-tools",
  what: "biolatency, offcputime and runqlat of libbpf-tools",
  lane: "packages",
  isThere: () => findProgram("biolatency") !== null,
  async make() {
    requireRoot("Installing libbpf-tools");
    await install(["libbpf-tools"]);
  },
};

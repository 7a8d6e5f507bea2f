import { findProgram } from "../harness/find_program.ts";
import { install } from "./install.ts";
import { type Part, requireRoot } from "./part.ts";

/** Makes requests to block devices, and counts them itself. */
export const fio: Part = {
  name: "fio",
  what: "fio, losetup for devices of a test's own, and jq",
  lane: "packages",
  isThere: () => missing().length === 0,
  async make() {
    requireRoot("Installing fio");
    await install(missing());
  },
};

function missing(): string[] {
  return Object.entries({ fio: "fio", losetup: "mount", jq: "jq" }).filter(([program]) => findProgram(program) === null).map(([, name]) => name);
}

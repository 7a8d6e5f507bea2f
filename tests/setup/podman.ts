import { findProgram } from "../harness/find_program.ts";
import { install } from "./install.ts";
import { type Part, requireRoot } from "./part.ts";

/** Containers without a daemon. runc, because Debian's other runtime refuses machines with both versions of control groups. */
export const podman: Part = {
  name: "podman",
  what: "podman and runc",
  lane: "packages",
  isThere: () => ["podman", "runc"].every((name) => findProgram(name) !== null),
  async make() {
    requireRoot("Installing podman");
    await install(["podman", "runc"]);
  },
};

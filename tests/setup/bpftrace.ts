import { run } from "../harness/command.ts";
import { findProgram } from "../harness/find_program.ts";
import { install } from "./install.ts";
import { CannotSetUp, type Part, requireRoot } from "./part.ts";

const tracing = "/sys/kernel/tracing";

/** What is installed when it is missing: a path or program that shows it, and Debian's package. */
const packages: Readonly<Record<string, string>> = { bpftrace: "bpftrace", bpftool: "bpftool", setpriv: "util-linux", sudo: "sudo" };

/** The system's bpftrace and what it needs of the kernel. */
export const bpftrace: Part = {
  name: "bpftrace",
  what: "bpftrace, bpftool and tracefs",
  lane: "packages",
  // tracefs can be looked into by root only; without root there is nothing to be done about it anyway.
  isThere: () => missing().length === 0 && (Deno.uid() !== 0 || hasTracefs()),
  async make() {
    requireRoot("Installing bpftrace");
    await install(missing());
    if (hasTracefs()) return;
    const mount = await run(["mount", "-t", "tracefs", "tracefs", tracing]);
    if (mount.code !== 0) {
      throw new CannotSetUp(`tracefs cannot be mounted: ${mount.stderr.trim()}`, "Run on a machine (or in a container) with CAP_SYS_ADMIN.");
    }
  },
};

function missing(): string[] {
  return Object.entries(packages).filter(([program]) => findProgram(program) === null).map(([, name]) => name);
}

function hasTracefs(): boolean {
  try {
    return Deno.readDirSync(tracing)[Symbol.iterator]().next().done === false;
  } catch {
    return false;
  }
}

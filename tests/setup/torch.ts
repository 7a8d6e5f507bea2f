import { isFile } from "../harness/is_file.ts";
import { install } from "./install.ts";
import { type Part, requireRoot } from "./part.ts";

/** Debian's, for Debian's Python: another `python3` may come first in PATH. */
export const debianPython = "/usr/bin/python3";

/** Another one than GCC's, which PyTorch may bring or not. */
const unwinder = `/usr/lib/${Deno.build.arch}-linux-gnu/libunwind.so.8`;

/** PyTorch for the CPU. */
export const torch: Part = {
  name: "torch",
  what: "PyTorch of Debian",
  lane: "packages",
  isThere: () => hasTorch(debianPython) && isFile(unwinder),
  async make() {
    requireRoot("Installing PyTorch");
    await install(["python3-torch", "libunwind8"]);
  },
};

/** Whether a Python finds PyTorch; it is not loaded for that. */
export function hasTorch(python: string): boolean {
  const find = 'import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)';
  try {
    return new Deno.Command(python, { args: ["-c", find], stdin: "null", stdout: "null", stderr: "null" }).outputSync().success;
  } catch {
    return false;
  }
}

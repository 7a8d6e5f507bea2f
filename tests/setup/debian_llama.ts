import { join } from "node:path";
import { run } from "../harness/command.ts";
import { isFile } from "../harness/is_file.ts";
import { rootsFolder } from "../harness/places.ts";
import { CannotSetUp, type Part, requireRoot } from "./part.ts";
import { bpftraceOf } from "./root.ts";

/** Debian's newest llama.cpp is in the root that brings the newest bpftrace. */
export const debianRoot = join(rootsFolder, "sid");

/** llama.cpp's own programs as Debian builds them: stripped, with landing pads, each variant of the CPU backend a file of its own. */
export const debianLlama: Part = {
  name: "debian-llama",
  what: "Debian sid's llama.cpp",
  lane: "root",
  isThere: () => isFile(join(debianRoot, "usr/bin/llama-completion")),
  async make() {
    requireRoot("Installing into a root of Debian sid");
    const root = bpftraceOf("sid");
    if (!(await root.isThere())) await root.make();
    // A mirror that stands still has lists that are out of date, which apt refuses.
    const old = ["-o", "Acquire::Check-Valid-Until=false"];
    for (const command of [["update", ...old], ["install", "-y", "--no-install-recommends", "llama.cpp-tools"], ["clean"]]) {
      const { code, stderr } = await run(["chroot", debianRoot, "apt-get", "-qq", ...command], { timeoutMilliseconds: 600_000 });
      if (code !== 0) throw new CannotSetUp(`apt-get could not install it: ${stderr.trim().slice(-300)}`, "Check that apt reaches its mirror.");
    }
  },
};

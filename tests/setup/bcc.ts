import { join } from "node:path";
import { mustRun } from "../harness/command.ts";
import { isFile } from "../harness/is_file.ts";
import { kernelHeaders } from "../harness/places.ts";
import { install } from "./install.ts";
import { type Part, requireRoot } from "./part.ts";

const KERNEL = { x86_64: "amd64", aarch64: "arm64" }[Deno.build.arch];

/**
 * What scripts that are not llmprof are written with. It compiles C against the headers of a kernel, which need not be those of the one that runs:
 * for a uprobe they say what registers there are. Debian has them in two folders, of which one is on top of the other.
 */
export const bcc: Part = {
  name: "bcc",
  what: "BCC and headers of a kernel",
  lane: "packages",
  isThere: () => isFile("/usr/lib/python3/dist-packages/bcc/__init__.py") && isFile(join(kernelHeaders, ".config")),
  async make() {
    requireRoot("Installing BCC");
    await install(["python3-bpfcc", `linux-headers-${KERNEL}`]);
    const folders = [...Deno.readDirSync("/usr/src")].map(({ name }) => name).filter((name) => name.startsWith("linux-headers-"));
    const newest = folders.filter((name) => name.endsWith(`-${KERNEL}`)).sort().at(-1)!;
    Deno.mkdirSync(kernelHeaders, { recursive: true });
    for (const name of [newest.replace(new RegExp(`${KERNEL}$`), "common"), newest]) {
      await mustRun(["cp", "--recursive", "--no-target-directory", `/usr/src/${name}`, kernelHeaders]);
    }
  },
};

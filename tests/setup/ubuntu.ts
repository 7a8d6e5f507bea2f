import { join } from "node:path";
import { run } from "../harness/command.ts";
import { isFile } from "../harness/is_file.ts";
import { rootsFolder } from "../harness/places.ts";
import { CannotSetUp, type Part } from "./part.ts";
import { bpftraceOf, debianMirror, type Distribution } from "./root.ts";

/** Debian signs Ubuntu's keys with its own, from its 13 on. */
const trixie = join(rootsFolder, "trixie");
const keyring = join(trixie, "usr/share/keyrings/ubuntu-archive-keyring.gpg");

const ubuntu: Distribution = {
  name: "Ubuntu",
  flags: ["--components=main,universe", `--keyring=${keyring}`],
  // All of Ubuntu's are made as that one is. Many a mirror of Debian's has Ubuntu beside it; without one debootstrap knows its own.
  async source(suite) {
    const beside = (await debianMirror()).map((mirror) => mirror.replace(/debian\/?$/, "ubuntu"));
    const has = await Promise.all(
      beside.map((mirror) => fetch(`${mirror}/dists/${suite}/Release`, { method: "HEAD" }).then(({ ok }) => ok, () => false)),
    );
    return [beside.find((_, i) => has[i]) ?? "", "gutsy"];
  },
};

/** The bpftrace of an Ubuntu suite, as {@link bpftraceOf} makes it. */
export function ubuntuBpftraceOf(suite: string): Part {
  const part = bpftraceOf(suite, ubuntu);
  return {
    ...part,
    async make() {
      const debian = bpftraceOf("trixie");
      if (!await debian.isThere()) await debian.make();
      if (!isFile(keyring)) await installKeyring();
      await part.make();
    },
  };
}

async function installKeyring(): Promise<void> {
  for (const words of [["update", "-qq"], ["install", "-y", "-qq", "ubuntu-archive-keyring"]]) {
    const apt = await run(["chroot", trixie, "apt-get", ...words], { env: { DEBIAN_FRONTEND: "noninteractive" }, timeoutMilliseconds: 300_000 });
    if (apt.code !== 0) throw new CannotSetUp(`Ubuntu's keys could not be had: ${apt.stderr.trim().slice(-500)}`, "Type `apt-get update` and look.");
  }
}

import { join } from "node:path";
import { run } from "../harness/command.ts";
import { bpftraceVersion } from "../harness/bpftraces.ts";
import { findProgram } from "../harness/find_program.ts";
import { isFile } from "../harness/is_file.ts";
import { rootsFolder } from "../harness/places.ts";
import { install } from "./install.ts";
import { CannotSetUp, type Part, requireRoot } from "./part.ts";
import { writeWrapper } from "./wrapper.ts";

/** Debian's own keys, which other distributions do not bring along. */
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";

/** Whose suite it is, and what debootstrap has to be told to make a root of it. */
export interface Distribution {
  readonly name: string;
  readonly flags: readonly string[];
  /** The mirror, and which of its scripts makes one whose name debootstrap does not know. */
  source(suite: string): Promise<readonly string[]>;
}

const debian: Distribution = { name: "Debian", flags: [], source: debianMirror };

/**
 * Another suite's bpftrace in a root of its own, and a wrapper `bpftrace-0.23` beside it that is run like a bpftrace. Suites move on: the wrapper is
 * named after the version that came.
 */
export function bpftraceOf(suite: string, distribution = debian): Part {
  const root = join(rootsFolder, suite);
  const done = join(root, ".complete");
  return {
    name: suite,
    what: `bpftrace of ${distribution.name} ${suite}`,
    lane: "root",
    isThere: () => isFile(done) && isFile(join(rootsFolder, Deno.readTextFileSync(done))),
    async make() {
      requireRoot(`A root of ${distribution.name} ${suite}`);
      if (findProgram("debootstrap") === null || !isFile(keyring)) await install(["debootstrap", "debian-archive-keyring"]);
      if (!isFile(done)) await bootstrap(suite, root, distribution);
      const name = `bpftrace-${bpftraceVersion(["chroot", root, "bpftrace"])}`;
      writeWrapper(join(rootsFolder, name), suite);
      Deno.writeTextFileSync(done, name);
    },
  };
}

async function bootstrap(suite: string, root: string, { name, flags, source }: Distribution): Promise<void> {
  // What an interrupted run left: it cannot be continued.
  await run(["rm", "-rf", "--one-file-system", root]);
  Deno.mkdirSync(root, { recursive: true });
  const all = ["--variant=minbase", "--include=bpftrace", ...flags];
  const made = await run(["debootstrap", ...all, suite, root, ...await source(suite)], { timeoutMilliseconds: 900_000 });
  if (made.code !== 0) {
    const log = `${made.stdout}\n${made.stderr}`.trim().split("\n").slice(-5).join("\n");
    throw new CannotSetUp(`debootstrap could not make a root of ${name} ${suite}:\n${log}\n`, "Check that apt reaches its mirror: `apt-get update`.");
  }
  await run(["chroot", root, "apt-get", "clean"]);
}

/** The mirror that this machine's apt uses for Debian; without one debootstrap knows its own. */
export async function debianMirror(): Promise<string[]> {
  const targets = await run(["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Label: Debian"]);
  return targets.stdout.split("\n").filter(Boolean).slice(0, 1);
}

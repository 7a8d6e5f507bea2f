import { run } from "../harness/command.ts";
import { findProgram } from "../harness/find_program.ts";
import { CannotSetUp } from "./part.ts";

/** The installation before: apt does one at a time. */
let before: Promise<unknown> = Promise.resolve();
let refreshed: Promise<unknown> | undefined;

/** Installs packages of the distribution, quietly. */
export function install(names: readonly string[]): Promise<void> {
  const mine = before.then(() => installNow(names));
  before = mine.catch(() => {});
  return mine;
}

async function installNow(names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  if (findProgram("apt-get") === null) throw new CannotSetUp(`Missing: ${names.join(", ")}.`, "Install them as your distribution does.");
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const flags = ["-y", "-qq", "--no-install-recommends"];
  // The lists may be missing (a fresh image) or old (a package moved on): refresh, but a failure only matters if the install fails.
  await (refreshed ??= run(["apt-get", "update", "-qq"], { env, timeoutMilliseconds: 300_000 }));
  const apt = await run(["apt-get", "install", ...flags, ...names], { env, timeoutMilliseconds: 600_000 });
  if (apt.code !== 0) {
    throw new CannotSetUp(`apt-get could not install ${names.join(", ")}: ${apt.stderr.trim().slice(-500)}`, "Type `apt-get update` and look.");
  }
}

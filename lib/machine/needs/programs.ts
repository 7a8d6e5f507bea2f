import type { LackingProgram } from "../programs.ts";
import { type Check, missing, ok } from "./check.ts";
import { installCommand } from "./shell.ts";

/**
 * The programs that llmprof starts. Nothing can be read without them, not even what distribution this is, so this comes alone when it comes.
 */
export function programNeeds(lacking: readonly LackingProgram[], distribution: readonly string[], path: string, root: boolean): Check {
  const need = "the programs that llmprof starts";
  if (lacking.length === 0) return ok(need, "setpriv, sh, cat, dd, find");
  const words = lacking.map(({ program, package: name, since }) => since === undefined ? program : `${program} of ${name} ${since} or newer`);
  const found = `without ${words.join(", ")}`;
  const consequence = "llmprof reads the kernel's files and starts everything through them.";
  const usual = ["/usr/bin", "/bin"].filter((folder) => !path.split(":").includes(folder));
  // The commonest reason by far: they are where they always are, and PATH does not say so.
  if (usual.length === 2) return missing(need, found, { consequence, fix: `export PATH=$PATH:/usr/bin:/bin` });
  const packages = [...new Set(lacking.filter(({ since }) => since === undefined).map((program) => program.package))];
  // What is installed already is as new as this distribution has it.
  if (packages.length === 0) return missing(need, found, { consequence, advice: "A newer distribution has it." });
  const install = installCommand(distribution, root, ...packages);
  return missing(need, found, { consequence, fix: install ?? "", advice: `They are in ${packages.join(", ")}; busybox's do not suffice.` });
}

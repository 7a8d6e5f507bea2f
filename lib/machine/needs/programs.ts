import type { LackingProgram } from "../programs.ts";
import { type Check, missing, ok } from "./check.ts";
import { installCommand } from "./shell.ts";

/**
 * The programs that llmprof starts. Nothing can be read without them, not even what distribution this is, so this comes alone when it comes.
 */
export function programNeeds(lacking: readonly LackingProgram[], distribution: readonly string[], path: string): Check {
  const need = "the programs that llmprof starts";
  if (lacking.length === 0) return ok(need, "setpriv, sh, cat, dd, find");
  const found = `without ${lacking.map(({ program }) => program).join(", ")}`;
  const consequence = "llmprof reads the kernel's files and starts everything through them.";
  const usual = ["/usr/bin", "/bin"].filter((folder) => !path.split(":").includes(folder));
  // The commonest reason by far: they are where they always are, and PATH does not say so.
  if (usual.length === 2) return missing(need, found, { consequence, fix: `export PATH=$PATH:/usr/bin:/bin` });
  const packages = [...new Set(lacking.map((program) => program.package))];
  const install = installCommand(distribution, ...packages);
  return missing(need, found, { consequence, fix: install ?? "", advice: `They are in ${packages.join(", ")}; busybox's do not suffice.` });
}

import { usage } from "../events/errors.ts";
import type { KernelFiles } from "../machine/files.ts";
import { quoteWord } from "../machine/needs/shell.ts";

/** What a shell takes where there is no PATH. */
const defaultPath = "/usr/local/bin:/usr/bin:/bin";

/**
 * Finds a program as a shell would and returns the path of the file behind its name, as the kernel will name it. Throws with exit code 2 when it does not
 * exist or is not executable.
 *
 * @param path Colon-separated folders; an empty one is the current folder.
 * @param cwd Absolute.
 */
export async function checkProgram(files: KernelFiles, name: string, path: string | undefined, cwd: string): Promise<string> {
  const candidates = candidatesFor(name, path ?? defaultPath, cwd);
  const modes = await files.modes(candidates);
  const found = candidates.find((candidate) => ((modes.get(candidate) ?? 0) & 0o111) !== 0);
  if (found) return await files.realPath(found) ?? found;
  const unusable = candidates.find((candidate) => modes.has(candidate));
  throw unusable ? usage(`${name} cannot be started.`, "The file is not executable.", `Run: chmod +x ${quoteWord(unusable)}`) : usage(
    `${name} was not found.`,
    name.includes("/") ? "There is no program of that name." : "It is in no folder of PATH.",
    `Give its path, or check: command -v ${quoteWord(name)}`,
  );
}

function candidatesFor(name: string, path: string, cwd: string): string[] {
  if (name === "") return [];
  const under = (dir: string) => dir.startsWith("/") ? dir : `${cwd}/${dir}`;
  if (name.includes("/")) return [under(name)];
  return path.split(":").map((dir) => `${dir === "" ? cwd : under(dir)}/${name}`);
}

import { usage } from "../events/errors.ts";
import type { KernelFiles } from "../machine/files.ts";
import { quoteWord } from "../machine/needs/shell.ts";

/** What a shell takes where there is no PATH. */
const defaultPath = "/usr/local/bin:/usr/bin:/bin";

type ProgramFiles = Pick<KernelFiles, "modes" | "realPath" | "identities">;

/**
 * Finds a program as a shell would and returns the path of the file behind its name, as the kernel will name it. Throws with exit code 2 when it does not
 * exist or is not executable.
 *
 * @param files As its user sees them.
 * @param path Colon-separated folders; an empty one is the current folder.
 * @param cwd Absolute.
 */
export async function checkProgram(files: ProgramFiles, name: string, path: string | undefined, cwd: string): Promise<string> {
  const candidates = candidatesFor(name, path ?? defaultPath, cwd);
  const modes = await files.modes(candidates);
  const found = candidates.find((candidate) => ((modes.get(candidate) ?? 0) & 0o111) !== 0);
  if (found) return await nameOf(files, found);
  const unusable = candidates.find((candidate) => modes.has(candidate));
  throw unusable ? usage(`${name} cannot be started.`, "The file is not executable.", `Run: chmod +x ${quoteWord(unusable)}`) : usage(
    `${name} was not found.`,
    name.includes("/") ? "There is no program of that name, or you may not look where it would lie." : "It is in no folder of PATH.",
    `Give its path, or check: command -v ${quoteWord(name)}`,
  );
}

/** With all links followed; as it was typed where one of them leads to another root (`/proc/PID/root/usr/bin/server`), in which that path names another file, or none. */
async function nameOf(files: ProgramFiles, path: string): Promise<string> {
  const real = await files.realPath(path) ?? path;
  if (real === path) return path;
  const both = await files.identities([path, real]);
  const [one, other] = [path, real].map((name) => both.get(name));
  return one?.device === other?.device && one?.inode === other?.inode ? real : path;
}

function candidatesFor(name: string, path: string, cwd: string): string[] {
  if (name === "") return [];
  const under = (dir: string) => dir.startsWith("/") ? dir : `${cwd}/${dir}`;
  if (name.includes("/")) return [under(name)];
  return path.split(":").map((dir) => `${dir === "" ? cwd : under(dir)}/${name}`);
}

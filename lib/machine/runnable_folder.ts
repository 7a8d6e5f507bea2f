import * as fs from "node:fs";
import { dirname } from "node:path";
import { ExitCode, LlmprofError } from "../events/errors.ts";
import { makeFolder, systemPlace } from "./cache.ts";
import type { KernelFiles } from "./files.ts";
import { type Guard, startGuard } from "./guard.ts";
import { type Mount, mountOf, parseMounts } from "./mounts.ts";

/** It is removed when it is disposed of, or when llmprof dies. */
export interface RunnableFolder extends AsyncDisposable {
  readonly path: string;
}

/**
 * A new folder, for programs of ours while they run, which nobody but root can exchange for another one: hardened machines let none be started from /tmp.
 * Throws where none can be had.
 *
 * @param within In the first of these that will do; none means that of temporary files.
 * @param start Of what removes it when llmprof dies.
 */
export async function runnableFolder(
  files: Pick<KernelFiles, "texts">,
  purpose: string,
  within: readonly (string | undefined)[] = [undefined, "/tmp", systemPlace.folder],
  start = startGuard,
): Promise<RunnableFolder> {
  const [text] = await files.texts(["/proc/self/mounts"]);
  const mounts = parseMounts(text ?? "");
  for (const dir of within) {
    const folder = made(dir, `llmprof-${purpose}-`);
    if (folder === null) continue;
    const real = fs.realpathSync(folder);
    if (startsPrograms(real, mounts) && isRoots(real)) return await guarded(real, start);
    Deno.removeSync(folder);
  }
  const why = `No program can be started safely from the folder of temporary files, /tmp or ${systemPlace.folder}.`;
  const next = "Name a folder of root's that is not mounted noexec: TMPDIR=DIR llmprof …";
  throw new LlmprofError(ExitCode.failed, "Nothing can be measured here.", why, next);
}

async function guarded(path: string, start: typeof startGuard): Promise<RunnableFolder> {
  let guard: Guard;
  try {
    guard = await start([], path);
  } catch (error) {
    // There may be no room for another process.
    fs.rmSync(path, { recursive: true, force: true });
    throw error;
  }
  return {
    path,
    async [Symbol.asyncDispose]() {
      try {
        Deno.removeSync(path, { recursive: true });
      } finally {
        await guard.close();
      }
    },
  };
}

/** Whether what is mounted there lets programs be started. */
export function startsPrograms(folder: string, mounts: readonly Mount[]): boolean {
  return !mountOf(folder, mounts)?.options.includes("noexec");
}

/** Whether none but root can put another one in its place: all folders above are root's, and who else may write there renames only what is his own. */
function isRoots(folder: string): boolean {
  for (let above = dirname(folder);; above = dirname(above)) {
    const { uid, mode } = fs.statSync(above);
    const isOpen = (mode & 0o022) !== 0 && (mode & 0o1000) === 0;
    if (isOpen || uid !== 0) return false;
    if (above === "/") return true;
  }
}

/** `dir`: none means that of temporary files. */
function made(dir: string | undefined, prefix: string): string | null {
  try {
    if (dir !== undefined) makeFolder(dir);
    return Deno.makeTempDirSync({ dir, prefix });
  } catch {
    return null;
  }
}

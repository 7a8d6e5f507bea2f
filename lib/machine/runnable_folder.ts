import * as fs from "node:fs";
import { ExitCode, LlmprofError } from "../events/errors.ts";
import { makeFolder, systemPlace } from "./cache.ts";
import type { KernelFiles } from "./files.ts";
import { startGuard } from "./guard.ts";
import { type Mount, mountOf, parseMounts } from "./mounts.ts";

/** It is removed when it is disposed of, or when llmprof dies. */
export interface RunnableFolder extends AsyncDisposable {
  readonly path: string;
}

/** A new folder, for programs of ours while they run: hardened machines let none be started from /tmp. Throws where none can be had. */
export async function runnableFolder(files: Pick<KernelFiles, "texts">, purpose: string): Promise<RunnableFolder> {
  const [text] = await files.texts(["/proc/self/mounts"]);
  const mounts = parseMounts(text ?? "");
  for (const dir of [undefined, systemPlace.folder]) {
    const folder = made(dir, `llmprof-${purpose}-`);
    if (folder === null) continue;
    if (startsPrograms(fs.realpathSync(folder), mounts)) return await guarded(folder);
    Deno.removeSync(folder);
  }
  const why = `No program can be started from the folder of temporary files, nor from ${systemPlace.folder}.`;
  throw new LlmprofError(ExitCode.failed, "Nothing can be measured here.", why, "Name a folder that is not mounted noexec: TMPDIR=DIR llmprof …");
}

async function guarded(path: string): Promise<RunnableFolder> {
  const guard = await startGuard([], path);
  return {
    path,
    async [Symbol.asyncDispose]() {
      Deno.removeSync(path, { recursive: true });
      await guard.close();
    },
  };
}

/** Whether what is mounted there lets programs be started. */
export function startsPrograms(folder: string, mounts: readonly Mount[]): boolean {
  return !mountOf(folder, mounts)?.options.includes("noexec");
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

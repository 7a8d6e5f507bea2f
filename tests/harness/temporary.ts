import { join } from "node:path";

/** For what is not a file and needs a name that nobody else uses: files of tests that run side by side share one process number. */
export const ownName = `llmprof-test-${crypto.randomUUID().slice(0, 8)}`;

/** A folder that is gone at the end of the test's scope. */
export interface Temporary extends Disposable {
  readonly path: string;
  /** Path of a file in it. */
  file(name: string): string;
}

/** `using folder = temporary();` World-readable, because targets may run as another user. `dir`: where it is made, `/dev/shm` for one in memory. */
export function temporary(dir?: string): Temporary {
  const path = Deno.makeTempDirSync({ prefix: "llmprof-test-", ...dir !== undefined && { dir } });
  Deno.chmodSync(path, 0o777);
  return {
    path,
    file: (name) => join(path, name),
    [Symbol.dispose]() {
      Deno.removeSync(path, { recursive: true });
    },
  };
}

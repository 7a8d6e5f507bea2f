import { run } from "./command.ts";

/** A library of the system that has nothing to do with inference. */
export async function anyLibrary(): Promise<string> {
  const { stdout } = await run(["sh", "-c", "cat /proc/$$/maps"]);
  return /\S+\/libc[.-]\S*so\S*/.exec(stdout)![0];
}

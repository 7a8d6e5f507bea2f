import { setTimeout as pause } from "node:timers/promises";
import { type Finished, mustRun, run } from "../harness/command.ts";
import { ownName, type Temporary } from "../harness/temporary.ts";

/** A container of podman's, with `/srv` for what it and the test tell each other. */
export interface Container extends AsyncDisposable {
  readonly name: string;
  /** The number that podman gave it. */
  readonly id: string;
  /** The folder that it has as `/srv`; its processes may write there. */
  readonly srv: string;
  podman(...words: string[]): Promise<Finished>;
}

/** Starts a program in a container with this root, and with numbers of users of its own. */
export async function startContainer(
  folder: Temporary,
  root: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Container> {
  const name = ownName;
  const podman = (...words: string[]) => mustRun(["podman", "--runtime", "runc", ...words]);
  const image = folder.file("image.tar"), srv = folder.file("srv");
  await mustRun(["tar", "-C", root, "-cf", image, "."]);
  await podman("import", image, name);
  Deno.mkdirSync(srv);
  Deno.chmodSync(srv, 0o777);
  // A runtime that may not raise limits keeps to small ones.
  const limits = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"];
  const users = ["--uidmap", "0:100000:1000", "--gidmap", "0:100000:1000"];
  const variables = Object.entries(env).flatMap(([variable, value]) => ["--env", `${variable}=${value}`]);
  const container = {
    name,
    srv,
    podman,
    async [Symbol.asyncDispose]() {
      // Podman tidies up after the container on its own, and for a moment the two are in each other's way.
      for (let left = 5; left > 0 && (await run(["podman", "--runtime", "runc", "rm", "--force", "--time", "0", name])).code !== 0; left--) {
        await pause(300);
      }
      await run(["podman", "rmi", "--force", name]);
    },
  };
  try {
    const words = ["--name", name, "--network", "none", ...limits, ...users, ...variables, "-v", `${srv}:/srv`, name, ...argv];
    const { stdout } = await podman("run", "--detach", ...words);
    return { ...container, id: stdout.trim() };
  } catch (error) {
    await container[Symbol.asyncDispose]();
    throw error;
  }
}

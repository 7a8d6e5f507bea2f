import { dirname, join } from "node:path";
import { type Finished, start } from "../harness/command.ts";
import type { Temporary } from "../harness/temporary.ts";
import { built } from "../setup/programs.ts";
import { neededBy } from "../workloads/counted.ts";
import { startContainer } from "./container.ts";
import { allFormats, type LiveOptions, startLlmprof } from "./live_run.ts";
import { row, until } from "./processes.ts";

/** So many calls a target asks for: see tests/workloads/gpu/calls.c. */
export const CALLS = 1009;
const LIBRARIES = ["libcuda.so.1", "libcudart.so.12", "libnccl.so.2", "libamdhip64.so.6", "libnvinfer.so.10", "libze_loader.so.1"];

/** A target, where its books are kept, and what of it runs before llmprof comes. */
export interface Way {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly books: string;
  /** It waits for this file, and llmprof comes before. */
  readonly go?: string;
  /** It runs in a container with this root. */
  readonly root?: string;
  /** Without the calls that only ask how things stand. */
  readonly few?: true;
}

const program = (folder: string, name: string, ...words: string[]) => [join(folder, name), "0", String(CALLS), ...words];
const { protected: usual, plain } = built.gpu;
const inRoot = { GPU_LOG: "/srv/book", LD_LIBRARY_PATH: "/opt" };
const inFolder = ({ path }: Temporary) => ({ books: path, env: { GPU_LOG: join(path, "book") } });

/** By what is said of each. */
export const ways: Readonly<Record<string, (folder: Temporary) => Way>> = {
  "as distributions compile": (folder) => ({ argv: program(usual, "calls"), ...inFolder(folder) }),
  "without landing pads": (folder) => ({ argv: program(plain, "calls"), ...inFolder(folder) }),
  "a runtime that is a part of the program": (folder) => ({ argv: program(usual, "linked"), ...inFolder(folder) }),
  "a runtime that is a part of a library": (folder) => ({ argv: program(usual, "inside"), ...inFolder(folder) }),
  "copies in a virtual environment, opened after the start": (folder) => ({
    argv: program(usual, "opening", `${venv(folder)}/`),
    ...inFolder(folder),
  }),
  "but those that only ask": (folder) => ({ argv: program(usual, "calls"), ...inFolder(folder), few: true }),
  "a process that runs already": (folder) => ({ argv: program(usual, "calls"), ...inFolder(folder), go: folder.file("go") }),
  "a process that runs already, and opens them later": (folder) => ({
    argv: program(usual, "opening", `${usual}/`),
    ...inFolder(folder),
    go: folder.file("go"),
  }),
  "in a root and namespaces of its own": (folder) => {
    const argv = ["unshare", "--mount", "--user", "--map-root-user", "chroot", rootWithGpu(folder), ...program("/opt", "calls")];
    return { argv, books: folder.file("root/srv"), env: inRoot };
  },
  "in a container": (folder) => {
    const env = { ...inRoot, GPU_GO: "/srv/go" };
    return { argv: program("/opt", "calls"), books: folder.file("srv"), env, go: folder.file("srv/go"), root: rootWithGpu(folder) };
  },
};

/** Libraries as wheels bring them. */
function venv(folder: Temporary): string {
  const path = folder.file("venv/lib/python3.11/site-packages/nvidia/lib");
  Deno.mkdirSync(path, { recursive: true });
  for (const name of LIBRARIES) Deno.copyFileSync(join(usual, name), join(path, name));
  return path;
}

/** A root with the program, the libraries and what the loader needs. */
function rootWithGpu(folder: Temporary): string {
  const root = folder.file("root");
  for (const name of ["opt", "srv"]) Deno.mkdirSync(join(root, name), { recursive: true });
  for (const name of ["calls", ...LIBRARIES]) Deno.copyFileSync(join(usual, name), join(root, "opt", name));
  for (const path of neededBy(join(usual, "calls")).filter((path) => !path.startsWith(usual))) {
    Deno.mkdirSync(join(root, dirname(path)), { recursive: true });
    Deno.copyFileSync(path, join(root, path));
  }
  return root;
}

/** Runs llmprof on it, with all that can be written. */
export async function traced({ argv, env, go, root, few }: Way, folder: Temporary, bpftrace: string): Promise<Finished> {
  const options = { bpftrace, folder, formats: allFormats, flags: ["--cuda-jsonl", folder.file("calls.jsonl"), ...few ? [] : ["--every-call"]] };
  const withEnv = ["env", ...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...go === undefined ? [] : [`GPU_GO=${go}`], ...argv];
  if (go === undefined) {
    await using llmprof = startLlmprof("gpu", { ...options, target: { argv: withEnv } });
    return await llmprof.finished();
  }
  const attached = async (which: Pick<LiveOptions, "target">, flags: readonly string[] = []) => {
    await using llmprof = startLlmprof("gpu", { ...options, ...which, flags: [...options.flags, ...flags] });
    await llmprof.saw(/Tracing process/);
    Deno.writeTextFileSync(go, "");
    return await llmprof.finished();
  };
  if (root !== undefined) {
    await using container = await startContainer(folder, root, argv, env);
    const { stdout } = await container.podman("inspect", "--format", "{{.State.Pid}}", container.name);
    await until("the program runs", () => row(Number(stdout))?.name === "calls");
    return await attached({}, ["--container", container.name]);
  }
  await using target = start(withEnv);
  await target.saw("ready");
  return await attached({ target: { pid: target.pid } });
}

import { ClosedFolder, runChild, runReader } from "./child.ts";
import { lacksFiles } from "./system_limits.ts";

/** A program that llmprof cannot do without, and that did not do what it has to. */
export interface LackingProgram {
  readonly program: string;
  /** The package that has it, as most distributions call it. */
  readonly package: string;
  /** It is of that package and too old: the first version that suffices. */
  readonly since?: string;
}

type Trial = LackingProgram & { readonly works: () => Promise<boolean> };

/** Each is tried with an option that smaller namesakes (busybox) do not have. */
const readers: readonly Trial[] = [
  { program: "cat", package: "coreutils", works: async () => (await runReader("cat", ["/proc/version"])).stdout.length > 0 },
  {
    program: "dd",
    package: "coreutils",
    works: async () =>
      (await runReader("dd", ["if=/proc/version", "iflag=skip_bytes,count_bytes,fullblock", "skip=1", "count=1", "status=none"])).stdout.length === 1,
  },
  {
    program: "find",
    package: "findutils",
    works: async () => (await runReader("find", ["/proc", "-maxdepth", "0", "-printf", "y"])).stdout.length === 1,
  },
];
const setpriv: Trial = { program: "setpriv", package: "util-linux", works: () => ends({ program: "true", parentDeath: true }) };
const throughSetpriv: readonly Trial[] = [
  { program: "sh", package: "dash", works: () => ends({ program: "/bin/sh", args: ["-c", ":"] }) },
];

/** Asked of `cat`: Deno does not say it. */
export async function runsAsRoot(): Promise<boolean> {
  const status = await runReader("cat", ["/proc/self/status"]).catch(() => null);
  return /^Uid:\s*\d+\s+0\s/m.test(new TextDecoder().decode(status?.stdout));
}

/** Tries every program that llmprof starts besides bpftrace; about 10 ms. */
export async function lackingPrograms(): Promise<LackingProgram[]> {
  const [reading, starting] = await Promise.all([failing(readers), failing([setpriv])]);
  // What setpriv starts cannot be judged without it.
  if (starting.length === 0) return [...reading, ...await failing(throughSetpriv)];
  const named = await runChild({ program: "setpriv", args: ["--version"] }).catch(() => null);
  return [...reading, named?.stdout.includes("util-linux") ? { ...setpriv, since: "2.33" } : setpriv];
}

async function failing(trials: readonly Trial[]): Promise<LackingProgram[]> {
  const worked = await Promise.all(trials.map(({ works }) => works().catch(notHere)));
  return trials.filter((_, i) => !worked[i]);
}

/** A program that fails is as good as none; one for which no more files may be opened, or in a folder that is closed, may do. */
function notHere(error: unknown): false {
  if (lacksFiles(error) || error instanceof ClosedFolder) throw error;
  return false;
}

async function ends(options: Parameters<typeof runChild>[0]): Promise<boolean> {
  return (await runChild(options)).code === 0;
}

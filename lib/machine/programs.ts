import { runChild, runReader } from "./child.ts";

/** A program that llmprof cannot do without, and that did not do what it has to. */
export interface LackingProgram {
  readonly program: string;
  /** The package that has it, as most distributions call it. */
  readonly package: string;
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
const started: readonly Trial[] = [
  { program: "setpriv", package: "util-linux", works: () => ends({ program: "true", parentDeath: true }) },
];
const throughSetpriv: readonly Trial[] = [
  { program: "sh", package: "dash", works: () => ends({ program: "/bin/sh", args: ["-c", ":"] }) },
];

/** Tries every program that llmprof starts besides bpftrace; about 10 ms. */
export async function lackingPrograms(): Promise<LackingProgram[]> {
  const lacking = await failing([...readers, ...started]);
  // What setpriv starts cannot be judged without it.
  return lacking.some(({ program }) => program === "setpriv") ? lacking : [...lacking, ...await failing(throughSetpriv)];
}

async function failing(trials: readonly Trial[]): Promise<LackingProgram[]> {
  const worked = await Promise.all(trials.map(({ works }) => works().catch(() => false)));
  return trials.filter((_, i) => !worked[i]);
}

async function ends(options: Parameters<typeof runChild>[0]): Promise<boolean> {
  return (await runChild(options)).code === 0;
}

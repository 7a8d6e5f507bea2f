import { basename, join } from "node:path";
import { findProgram } from "./find_program.ts";
import { rootsFolder } from "./places.ts";

/** A bpftrace to run kernel tests with. */
export interface Bpftrace {
  /** Major and minor version, such as `0.17`; what a test's name says. */
  readonly name: string;
  readonly path: string;
}

/**
 * Those that tests run with: every one that is installed here, or where `LLMPROF_TEST_VERSION` says one, that alone. None where there is none: who
 * needs it is skipped.
 */
export function bpftraces(): Bpftrace[] {
  const only = Deno.env.get("LLMPROF_TEST_VERSION");
  return installed().filter(({ name }) => !only || name === only);
}

/** Those that a script measures with: the one that was named, or all that tests run with. Throws where there is none: nothing would be measured. */
export function chosenBpftraces(named?: string): Bpftrace[] {
  const chosen = named === undefined ? bpftraces() : [bpftraceNamed(named)];
  if (chosen.length === 0) throw new Error("No bpftrace is here.");
  return chosen;
}

/** The one of that name. Throws which ones there are. */
export function bpftraceNamed(name: string): Bpftrace {
  const all = installed();
  const found = all.find((bpftrace) => bpftrace.name === name);
  if (!found) throw new Error(`No bpftrace ${name} is here, but ${all.map(({ name }) => name).join(", ") || "none at all"}.`);
  return found;
}

/** The system's first, then those that `setup.ts` put into roots of other suites. */
function installed(): Bpftrace[] {
  const found: Bpftrace[] = [];
  const system = findProgram("bpftrace");
  if (system !== null) found.push({ name: bpftraceVersion([system]), path: system });
  for (const path of wrappers()) found.push({ name: basename(path).replace("bpftrace-", ""), path });
  return found;
}

/** All arguments of a marker (USDT). Those before refuse the seventh and what follows, though they attach to it: "x86_64 doesn't support arg7". */
export function handsOverAll({ name }: Bpftrace): boolean {
  return Number(name.split(".")[1]) >= 27;
}

/** Goes through a map of any size: what is open in the kernel when counting ends is told by those that do. */
export function walksMaps({ name }: Bpftrace): boolean {
  return Number(name.split(".")[1]) >= 22;
}

/** Reads in its program what has been added up; an older one prints it when it comes to that. */
export function readsSums({ name }: Bpftrace): boolean {
  return Number(name.split(".")[1]) >= 23;
}

/** `bpftrace v0.17.0` → `0.17`. */
export function bpftraceVersion([program, ...args]: readonly [string, ...string[]]): string {
  const { stdout } = new Deno.Command(program, { args: [...args, "--version"], stderr: "null" }).outputSync();
  const text = new TextDecoder().decode(stdout);
  const version = /v(\d+\.\d+)/.exec(text)?.[1];
  if (version === undefined) throw new Error(`${program} --version printed no version: ${text}`);
  return version;
}

function wrappers(): string[] {
  try {
    return [...Deno.readDirSync(rootsFolder)].filter(({ isFile, name }) => isFile && name.startsWith("bpftrace-"))
      .map(({ name }) => join(rootsFolder, name)).sort();
  } catch {
    return [];
  }
}

import type { User } from "../machine/child.ts";
import type { KernelFiles } from "../machine/files.ts";
import { ancestorsOf, type ProcessStat, readCommandLine, readEnvironment, readProcesses } from "./process.ts";

/** Who typed the command: the target runs as that user and with that environment. */
export interface Invoker {
  /** Null when the target runs as llmprof does. */
  readonly user: User | null;
  readonly environment: Readonly<Record<string, string>>;
  /** How many files it may have open before it asks for more; absent where that is not known. */
  readonly openFiles?: number;
}

/** What has a limit of its own: runtimes ask for as many open files as they may have, as llmprof's own does, and sudo for few. */
const OWN_LIMIT = /^(sudo|deno|node|np[mx]|MainThread)\b/;

/** What sudo sets itself, in place of the user's. */
const SET_BY_SUDO = /^(PATH|HOME|USER|LOGNAME|SHELL|MAIL|TERM|_|PWD|OLDPWD|SHLVL|SUDO_.*)$/;
const SHELL = /^-?(?:.*\/)?(?:ba|da|z|k|c|tc|fi|a)?sh$/;

/**
 * Under `sudo`, the user who called it, with the environment of the sudo process: that one still has the virtual environment and the
 * variables that sudo takes away; what was set behind it (`sudo NAME=value llmprof`) is set. Otherwise, and in a shell that sudo has opened, llmprof's own.
 *
 * @param self Process id of llmprof.
 */
export async function readInvoker(files: KernelFiles, self: number): Promise<Invoker> {
  const processes = await readProcesses(files);
  const line = ancestorsOf(processes, self).map((pid) => processes.get(pid)!);
  const [who, openFiles] = await Promise.all([readUser(files, self, line), readOpenFiles(files, line)]);
  return { ...who, ...openFiles !== null && { openFiles } };
}

/**
 * The limit that holds where llmprof was typed: the nearest process above it that keeps to what it was given says it. Null also where somebody in between
 * has set another (`ulimit -n 4096; exec llmprof`), which is seen in how many may be asked for.
 */
async function readOpenFiles(files: KernelFiles, [self, ...line]: readonly ProcessStat[]): Promise<number | null> {
  const above = line.find(({ comm }) => !OWN_LIMIT.test(comm));
  if (!self || !above) return null;
  const limits = await files.texts([self, above].map(({ pid }) => `/proc/${pid}/limits`));
  const [own, given] = limits.map((text) => /^Max open files\s+(\d+)\s+(\d+)/m.exec(text ?? ""));
  return given && given[2] === own?.[2] ? Number(given[1]) : null;
}

async function readUser(files: KernelFiles, self: number, line: readonly ProcessStat[]): Promise<Pick<Invoker, "user" | "environment">> {
  const own = await readEnvironment(files, self) ?? {};
  const user = sudoUser(own);
  if (!user) return { user: null, environment: own };
  const at = line.findIndex(({ comm }) => comm === "sudo");
  const [environment, below] = await Promise.all([
    at < 0 ? null : readEnvironment(files, line[at]!.pid),
    at < 1 ? null : readCommandLine(files, line[at - 1]!.pid),
  ]);
  // `sudo -i`, `sudo -s`: who types there is root.
  const isShell = below?.length === 1 && SHELL.test(below[0]!);
  if (isShell) return { user: null, environment: own };
  const set = Object.entries(own).filter(([name]) => !SET_BY_SUDO.test(name));
  // root who calls sudo stays root.
  return { user: user.uid === 0 ? null : user, environment: environment ? { ...environment, ...Object.fromEntries(set) } : own };
}

/** The user that sudo names in its variables; null when there is none or they are no numbers. */
export function sudoUser(environment: Readonly<Record<string, string>>): User | null {
  const { SUDO_UID, SUDO_GID, SUDO_USER } = environment;
  if (!/^\d+$/.test(SUDO_UID ?? "") || !/^\d+$/.test(SUDO_GID ?? "")) return null;
  // sudo calls a user whom the database does not know `#1234`: then there are no groups to look up.
  return { uid: Number(SUDO_UID), gid: Number(SUDO_GID), groups: SUDO_USER && !SUDO_USER.startsWith("#") ? "init" : "clear" };
}

import { ExitCode, LlmprofError, usage } from "../events/errors.ts";
import { lastPart } from "../events/text.ts";
import type { Child, SpawnChild, Stream } from "../machine/child.ts";
import type { KernelFiles } from "../machine/files.ts";
import type { Invoker } from "./invoker.ts";
import { parseStat, readStat } from "./process.ts";

/** What launching takes from the world. */
export interface LaunchMeans {
  readonly files: KernelFiles;
  readonly spawn: SpawnChild;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

export interface LaunchOptions extends Invoker {
  /** Program and arguments as typed. */
  readonly argv: readonly string[];
  /** `stderr`: its standard output goes there too, for a run whose own standard output is a summary. */
  readonly stdout?: Stream | "stderr";
  readonly stderr?: Stream;
  /** It does not hear a SIGHUP: llmprof catches signals, so what nohup said does not reach it by itself. */
  readonly underNohup?: boolean;
  /** Called with the pid at once: a guard has to know who is about to stand stopped. */
  readonly onPid?: (pid: number) => void | Promise<void>;
}

/** Hands on variables whose names a shell cannot set, by which it exports functions; dash does not. With -p it takes no function from there itself. */
const BASH = "/bin/bash";
/** By which a shell stops itself; on its command line it is told from a shell that is the program. */
const STOP = "kill -STOP $$; exec";
const pollMs = 2;
/** Two seconds: a shell that has not stopped by then never will. */
const mostPolls = 1000;

/**
 * Starts a program as its user would, and stopped before its first instruction. A shell stops itself, and with a SIGCONT replaces itself by the program:
 * the pid stays.
 *
 * Throws when the shell ends early.
 */
export async function launchStopped(means: LaunchMeans, options: LaunchOptions): Promise<Child> {
  const { argv, user, environment, openFiles, stdout = "inherit", stderr = "inherit" } = options;
  const { env, exports } = splitEnvironment(environment);
  const hasOthers = Object.keys(env).some((name) => !/^[a-z_]\w*$/i.test(name)) && await means.files.exists(BASH);
  const toStderr = stdout === "stderr" ? " >&2" : "";
  const script = `while [ "$1" != -- ]; do export "$1" 2> /dev/null; shift; done; shift; ${options.underNohup ? "trap '' HUP; " : ""}${
    openFiles === undefined ? "" : `ulimit -S -n ${openFiles} 2> /dev/null; `
  }${STOP} "$@"${toStderr}`;
  const child = means.spawn({
    program: hasOthers ? BASH : "/bin/sh",
    args: [...hasOthers ? ["-p"] : [], "-c", script, "sh", ...exports, "--", ...argv],
    env,
    user: user ?? undefined,
    stdin: "inherit",
    stdout: stdout === "stderr" ? "inherit" : stdout,
    stderr,
  });
  await options.onPid?.(child.pid);
  await waitStopped(means, child);
  return child;
}

/**
 * At a terminal `sudo` gives its program one of its own, and when that program stops at a gate stops its process group, which is llmprof's. Throws
 * with exit code 2 where that would happen; `self`: the process number of llmprof.
 */
export async function mustNotSuspend(files: KernelFiles, self: number, name: string): Promise<void> {
  if (lastPart(name) !== "sudo" || (await readStat(files, self))?.terminal === 0) return;
  throw usage(
    "llmprof cannot start sudo at a terminal.",
    "Whenever its program stands for probes to be attached, sudo would suspend llmprof with itself.",
    "Leave sudo out: llmprof starts the program as you. As somebody else, start it yourself in another terminal: llmprof coldstart waits for the next one, other commands with --wait --comm NAME.",
  );
}

/** Whether somebody else has let it go: it runs, or it is the program by now, which stands at a gate. One that has ended does not count. */
export async function hasBegun(files: KernelFiles, pid: number): Promise<boolean> {
  const [text, words] = await files.texts([`/proc/${pid}/stat`, `/proc/${pid}/cmdline`]);
  const stat = text == null ? null : parseStat(text);
  return stat !== null && !["Z", "X"].includes(stat.state) && !(["T", "t"].includes(stat.state) && words?.includes(STOP));
}

/**
 * Deno refuses to pass `LD_…` on (facts: it does so to every process that may not run everything), so the shell sets those names. Names
 * that a shell cannot set are no use to the loader either. And it sets what bash would complain of, or leave out, as it begins.
 */
export function splitEnvironment(environment: Readonly<Record<string, string>>): { env: Record<string, string>; exports: string[] } {
  const env: Record<string, string> = {};
  const exports: string[] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (!/^((LD|DYLD)_|LC_ALL$|PS[12]$)/.test(name)) env[name] = value;
    else if (/^\w+$/.test(name)) exports.push(`${name}=${value}`);
  }
  return { env, exports };
}

async function waitStopped({ files, sleep }: LaunchMeans, child: Child): Promise<void> {
  let ended = false;
  void child.status.then(() => ended = true);
  for (let i = 0; i < mostPolls && !ended; i++) {
    const stat = await readStat(files, child.pid);
    if (stat?.state === "T") return;
    await sleep(pollMs);
  }
  child.kill("SIGKILL");
  throw new LlmprofError(
    ExitCode.failed,
    "The program could not be started.",
    ended ? `The shell that starts it ended with code ${(await child.status).code}.` : "The shell that starts it did not stop in time.",
    "Start it yourself and attach with --pid.",
  );
}

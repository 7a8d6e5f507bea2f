import { ExitCode, LlmprofError } from "../events/errors.ts";

/** Nothing can be started from the current folder. */
export class ClosedFolder extends LlmprofError {}

/** How a child's stream is connected. */
export type Stream = "piped" | "inherit" | "null";

export interface User {
  readonly uid: number;
  readonly gid: number;
  /** Supplementary groups: `init` as the system's user database lists them, `clear` for none (a uid that the database does not know). */
  readonly groups: "init" | "clear";
}

export interface ChildOptions {
  readonly program: string;
  readonly args?: readonly string[];
  /**
   * The child's whole environment; {@link plainEnvironment} when absent. Nothing is inherited: Deno without unlimited run permission refuses to
   * start anything at all while its own environment holds an `LD_…` name, and refuses those names here too.
   */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Each `null` when absent. */
  readonly stdin?: Stream;
  readonly stdout?: Stream;
  readonly stderr?: Stream;
  /** SIGKILL when the thread that spawned it ends: spawn from the main thread. Holds for a stopped child too. */
  readonly parentDeath?: boolean;
  /** A session of its own: a Ctrl-C at the terminal does not reach it. */
  readonly newSession?: boolean;
  readonly user?: User;
}

export interface ChildEnd {
  readonly code: number;
  readonly signal: string | null;
}

/** Why a child is gone that should still be there. */
export function untimely({ code, signal }: ChildEnd): string {
  if (signal === "SIGKILL") return "Somebody killed it, or the kernel did because memory was short: see dmesg.";
  return `It ended with ${signal ?? `code ${code}`} and said nothing.`;
}

/** A running child; what a test fakes. Streams that are not piped are null. */
export interface Child {
  /** Of the program itself: `setpriv` replaces itself by it. */
  readonly pid: number;
  readonly stdin: WritableStream<Uint8Array> | null;
  readonly stdout: ReadableStream<Uint8Array> | null;
  readonly stderr: ReadableStream<Uint8Array> | null;
  readonly status: Promise<ChildEnd>;
  /** False when the child is gone. */
  kill(signal: Deno.Signal): boolean;
}

export type SpawnChild = (options: ChildOptions) => Child;

/** Where the programs of a system are: `sh`, `bpftrace`. */
export const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin";

/** English messages and the system's programs, nothing of the user's. */
export const plainEnvironment: Readonly<Record<string, string>> = { PATH: systemPath, LC_ALL: "C" };

/** The arguments of the `setpriv` that starts the program. */
export function setprivArguments(options: ChildOptions): string[] {
  const { program, args = [], parentDeath, user } = options;
  const words: string[] = [];
  if (user) words.push("--reuid", `${user.uid}`, "--regid", `${user.gid}`, user.groups === "init" ? "--init-groups" : "--clear-groups");
  // After the user in setpriv too: a change of user would clear it.
  if (parentDeath) words.push("--pdeathsig", "KILL");
  return [...words, "--", program, ...args];
}

/**
 * Starts a program through `setpriv`. SIGPIPE has its default action in it (Deno ignores the signal for itself and restores it for its
 * children: a test looks). A program that cannot be started ends with code 126 or 127 and a message on its stderr.
 */
export function spawnChild(options: ChildOptions): Child {
  const { env = plainEnvironment, cwd, stdin = "null", stdout = "null", stderr = "null", newSession: detached = false } = options;
  // Detached is a session of its own from the first instruction on: `setpriv` would hear a Ctrl-C before it could start a `setsid`.
  const how = { args: setprivArguments(options), clearEnv: true, env, cwd, stdin, stdout, stderr, detached };
  const child = spawned("setpriv", how);
  return {
    pid: child.pid,
    stdin: stdin === "piped" ? child.stdin : null,
    stdout: stdout === "piped" ? child.stdout : null,
    stderr: stderr === "piped" ? child.stderr : null,
    status: child.status.then(({ code, signal }) => ({ code, signal })),
    kill(signal) {
      try {
        child.kill(signal);
        return true;
      } catch {
        return false;
      }
    },
  };
}

export interface Finished extends ChildEnd {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end and collects what it said. */
export async function runChild(options: Omit<ChildOptions, "stdin" | "stdout" | "stderr">): Promise<Finished> {
  // A Ctrl-C at the terminal is for llmprof alone: an answer that it cut off would read as one.
  return await whereRoom(() => spawnChild({ ...options, newSession: true, stdin: "null", stdout: "piped", stderr: "piped" }), async (child) => {
    const [stdout, stderr, end] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.status]);
    return { ...end, stdout, stderr };
  });
}

/** Those that are about to end, and with them their pipes. */
const ending = new Set<Promise<unknown>>();

/** Where so few files may be open that there are none for another child, it begins when one of those that run has ended. */
async function whereRoom<Begun, Result>(begin: () => Begun, finish: (begun: Begun) => Promise<Result>): Promise<Result> {
  for (;;) {
    let end: Promise<Result>;
    try {
      end = finish(begin());
    } catch (cause) {
      if (ending.size === 0 || !/\(os error 24\)/.test(String(cause))) throw cause;
      await Promise.race(ending);
      continue;
    }
    const over = end.then(() => {}, () => {});
    ending.add(over);
    try {
      return await end;
    } finally {
      ending.delete(over);
    }
  }
}

/** What a terminal sends to everything that runs in it. */
const fromTerminal: readonly (string | null)[] = ["SIGINT", "SIGQUIT", "SIGHUP"];

/**
 * Runs one of the three readers. They start without `setpriv`: what they can reach is what their arguments name. And without a session of their
 * own, for which Deno would copy its whole address space (2.5 ms instead of 0.5, and as much again in faults): one that a Ctrl-C at the terminal
 * ended is asked again. What it complains of is heard where somebody wants to know. As another user it is started as anything else.
 */
export async function runReader(
  program: "cat" | "dd" | "find",
  args: readonly string[],
  stderr: "piped" | "null" = "null",
  user: User | null = null,
): Promise<{ code: number; stdout: Uint8Array; complaints: Uint8Array }> {
  const words = user ? setprivArguments({ program, args, user }) : [...args];
  const how: Deno.CommandOptions = { args: words, clearEnv: true, env: { ...plainEnvironment }, stdin: "null", stdout: "piped", stderr };
  for (;;) {
    const said = await whereRoom(() => spawned(user ? "setpriv" : program, how), (child) => child.output());
    const { code, stdout } = said;
    if (!fromTerminal.includes(said.signal)) return { code, stdout, complaints: stderr === "piped" ? said.stderr : new Uint8Array() };
  }
}

/** Deno looks for the programs that it may start on PATH, when it starts itself. */
function spawned(program: string, options: Deno.CommandOptions): Deno.ChildProcess {
  try {
    return new Deno.Command(program, options).spawn();
  } catch (cause) {
    // EAGAIN, ENOMEM.
    if (/\(os error 1[12]\)/.test(String(cause))) {
      const next = "Raise the limit of processes (in a container: --pids-limit), or make memory free.";
      throw new LlmprofError(ExitCode.failed, `${program} could not be started.`, "There is no room for another process.", next, { cause });
    }
    // Deno enters the current folder anew for each child.
    if (cause instanceof Deno.errors.PermissionDenied) {
      const why = "The current folder is closed to llmprof, as those of users can be to root on NFS and FUSE (sshfs, AppImages).";
      throw new ClosedFolder(ExitCode.usage, `${program} could not be started.`, why, "Type it in another one: cd /tmp", { cause });
    }
    if (!(cause instanceof Deno.errors.NotFound || cause instanceof Deno.errors.NotCapable)) throw cause;
    throw new LlmprofError(ExitCode.machine, `Tracing needs ${program}.`, "It was not found on PATH.", "Run: llmprof doctor", { cause });
  }
}

import { setTimeout as pause } from "node:timers/promises";
import { patience } from "../../lib/session/patience.ts";

/** What a finished command left. */
export interface Finished {
  readonly code: number;
  readonly signal: Deno.Signal | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly milliseconds: number;
  /** It was ended because it ran past its limit. */
  readonly timedOut: boolean;
}

export interface RunOptions {
  /**
   * After this it gets SIGTERM, and SIGKILL 2 s later; time in which the machine stood still does not count. Default: three minutes,
   * because a bpftrace that attaches waits for another one that lets go, for most of one.
   */
  readonly timeoutMilliseconds?: number;
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  /** Text for its stdin; without it stdin is empty. */
  readonly stdin?: string;
}

/** Runs a command to its end and keeps what it prints; never throws because of how it ends. */
export async function run(argv: readonly string[], options: RunOptions = {}): Promise<Finished> {
  await using child = start(argv, options);
  return await child.finished();
}

/** Like {@link run}, for steps that must succeed: throws what the command printed. */
export async function mustRun(argv: readonly string[], options: RunOptions = {}): Promise<Finished> {
  await using child = start(argv, options);
  return await child.succeeded();
}

/** A command that runs while the test does something else; ends with the test's scope at the latest. */
export interface Running extends AsyncDisposable {
  readonly pid: number;
  kill(signal: Deno.Signal): void;
  /** What it has printed so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves when the text has appeared on stdout or stderr; throws when the command ends before that. */
  saw(text: string | RegExp): Promise<void>;
  finished(): Promise<Finished>;
  /** Like `finished`, for what must succeed: throws what it printed. */
  succeeded(): Promise<Finished>;
}

/** Starts a command. Its time limit counts from here. */
export function start(argv: readonly string[], options: RunOptions = {}): Running {
  const [program, ...args] = argv;
  if (program === undefined) throw new Error("An empty command line.");
  const begin = performance.now();
  const { cwd, env } = options;
  const child = new Deno.Command(program, { args, cwd, env, stdin: "piped", stdout: "piped", stderr: "piped" }).spawn();
  const watchers = new Set<() => void>();
  const stdout = gather(child.stdout, watchers);
  const stderr = gather(child.stderr, watchers);
  const fed = feed(child.stdin, options.stdin);
  let timedOut = false;
  const over = new AbortController();
  void endLate().catch(() => {});
  const finished = (async (): Promise<Finished> => {
    const [status] = await Promise.all([child.status, stdout.done, stderr.done, fed]);
    over.abort();
    const milliseconds = performance.now() - begin;
    return { code: status.code, signal: status.signal, stdout: stdout.text(), stderr: stderr.text(), milliseconds, timedOut };
  })();

  async function endLate(): Promise<void> {
    const sleep = (milliseconds: number) => pause(milliseconds, undefined, { signal: over.signal });
    await patience(sleep, options.timeoutMilliseconds ?? 180_000);
    timedOut = true;
    signal("SIGTERM");
    await patience(sleep, 2000);
    signal("SIGKILL");
  }

  function signal(name: Deno.Signal): void {
    try {
      child.kill(name);
    } catch {
      // It has ended already.
    }
  }

  return {
    pid: child.pid,
    kill: signal,
    stdout: stdout.text,
    stderr: stderr.text,
    finished: () => finished,
    async succeeded() {
      const end = await finished;
      if (end.code === 0) return end;
      const how = end.timedOut ? `ran past ${end.milliseconds.toFixed(0)} ms` : `ended with ${end.signal ?? end.code}`;
      throw new Error(`${argv.join(" ")} ${how}:\n${end.stdout.slice(-2000)}${end.stderr.slice(-4000)}`);
    },
    async saw(text) {
      const there = () => [stdout.text(), stderr.text()].some((all) => typeof text === "string" ? all.includes(text) : text.test(all));
      if (there()) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const watcher = () => there() && resolve();
      watchers.add(watcher);
      const end = await Promise.race([promise, finished]);
      watchers.delete(watcher);
      if (end && !there()) throw new Error(`${argv.join(" ")} ended with ${end.code} before it printed ${text}:\n${end.stdout}${end.stderr}`);
    },
    async [Symbol.asyncDispose]() {
      signal("SIGKILL");
      await child.status;
      // What it has started may go on, with the other ends of its pipes.
      await Promise.all([stdout.leave(), stderr.leave()]);
      await finished;
    },
  };
}

function gather(stream: ReadableStream<Uint8Array>, watchers: Set<() => void>) {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  const pieces: string[] = [];
  const done = (async () => {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      pieces.push(decoder.decode(read.value, { stream: true }));
      watchers.forEach((watcher) => watcher());
    }
  })();
  return { done, text: () => pieces.join(""), leave: () => reader.cancel() };
}

async function feed(stdin: WritableStream<Uint8Array>, text = ""): Promise<void> {
  try {
    const writer = stdin.getWriter();
    await writer.write(new TextEncoder().encode(text));
    await writer.close();
  } catch {
    // A command may end without reading what it is given.
  }
}

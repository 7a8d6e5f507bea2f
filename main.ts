import type { Started } from "./lib/commands/cli.ts";
import denoJson from "./deno.json" with { type: "json" };
import { ends, type EndSignal } from "./lib/commands/ends.ts";
import { here } from "./lib/commands/here.ts";
import { ownName } from "./lib/commands/own_name.ts";
import help from "./lib/commands/help.txt" with { type: "text" };

/** Parses the command line, runs, prints, exits: nothing else. What is not needed for `--help` is imported when it is needed. */
async function main(args: readonly string[]): Promise<number> {
  let interrupted = false;
  const err = writer(Deno.stderr);
  const write = writer(Deno.stdout);
  // A terminal's Ctrl-C ends whoever reads a pipe, too, and that before anything is summed up. Otherwise whoever read it has seen enough.
  const out = (text: string, onUnread?: () => void) => write(text, () => interrupted && onUnread?.());
  if (args.length === 1 && ["-h", "--help", "help"].includes(args[0]!)) return out(help), 0;
  const typed = [Deno.stdin, Deno.stdout, Deno.stderr].some((stream) => stream.isTerminal());
  const terminal = { out, err, width: columns(), colour: Deno.stdout.isTerminal() && !Deno.noColor && Deno.env.get("TERM") !== "dumb", typed };
  let retold = (error: unknown) => error;
  const fail = async (error: unknown): Promise<number> => {
    const { failure } = await import("./lib/commands/failure.ts");
    const { text, exitCode } = failure(retold(error), isVerbose(args));
    err(text);
    return exitCode;
  };
  // An error that nobody waited for, such as a full disk while a bpftrace's lines are read.
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    void fail(event.reason).then(Deno.exit);
  });
  const { came, ...ending } = ends(() => performance.now(), Deno.exit);
  void ending.interrupted.then(() => interrupted = true);
  const context: Started = {
    terminal,
    ...ending,
    heedSignals: (underNohup) => heed(came, underNohup),
    retellFailures: (retell) => retold = retell,
    argv: [ownName(Deno.build.standalone ? Deno.execPath() : undefined, here()), ...args],
    version: denoJson.version,
  };
  try {
    const { runCommandLine } = await import("./lib/commands/cli.ts");
    return await runCommandLine(context);
  } catch (error) {
    return await fail(error);
  }
}

/** From then on a signal is an end that `came`. */
function heed(came: (signal: EndSignal) => void, underNohup: boolean): void {
  // With its first listener Deno itself catches SIGHUP, and what nohup said is forgotten: it takes a listener that does nothing.
  Deno.addSignalListener("SIGHUP", underNohup ? () => {} : () => came("SIGHUP"));
  Deno.addSignalListener("SIGINT", () => came("SIGINT"));
  Deno.addSignalListener("SIGTERM", () => came("SIGTERM"));
  // An output that grows past the limit for files (`ulimit -f`) is then an error of its write, and not the end of this process.
  Deno.addSignalListener("SIGXFSZ", () => {});
}

const terminalIsGone = "os error 5";

/** `onUnread`: not even the first of the text was taken. */
function writer(stream: typeof Deno.stdout): (text: string, onUnread?: () => void) => void {
  return (text, onUnread) => {
    const bytes = new TextEncoder().encode(text);
    for (let at = 0; at < bytes.length;) {
      try {
        at += stream.writeSync(piece(bytes, at));
      } catch (error) {
        // A target that shares the pipe may have made it non-blocking (node does), and who reads it is slow.
        if (error instanceof Deno.errors.WouldBlock) pause(5);
        // `llmprof … | head -1`: whoever read it has seen enough. And nobody can be told that standard error takes nothing.
        else if (stream === Deno.stderr || error instanceof Deno.errors.BrokenPipe || String(error).includes(terminalIsGone)) {
          if (at === 0) onUnread?.();
          return;
        } else throw error;
      }
    }
  };
}

/**
 * What a pipe takes as a whole or not at all, up to the end of a line: standard output keeps an unfinished line for itself, so that after an
 * error in the middle of a write nobody knows how much it has taken.
 */
function piece(bytes: Uint8Array, at: number): Uint8Array {
  const most = bytes.subarray(at, at + 4096);
  return most.subarray(0, most.lastIndexOf(10) + 1 || most.length);
}

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

function columns(): number {
  try {
    return Deno.stdout.isTerminal() ? Deno.consoleSize().columns : 100;
  } catch {
    return 100;
  }
}

function isVerbose(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return Deno.env.has("LLMPROF_VERBOSE") || (end < 0 ? args : args.slice(0, end)).includes("--verbose");
}

Deno.exit(await main(Deno.args));

import type { Context } from "./lib/commands/terminal.ts";
import denoJson from "./deno.json" with { type: "json" };
import help from "./lib/commands/help.txt" with { type: "text" };

/** Parses the command line, runs, prints, exits: nothing else. What is not needed for `--help` is imported when it is needed. */
async function main(args: readonly string[]): Promise<number> {
  const out = writer(Deno.stdout);
  const err = writer(Deno.stderr);
  if (args.length === 1 && ["-h", "--help", "help"].includes(args[0]!)) return out(help), 0;
  const terminal = { out, err, width: columns(), colour: Deno.stdout.isTerminal() && !Deno.noColor, live: Deno.stderr.isTerminal() };
  const fail = async (error: unknown): Promise<number> => {
    const { failure } = await import("./lib/commands/failure.ts");
    const { text, exitCode } = failure(error, isVerbose(args));
    err(text);
    return exitCode;
  };
  // An error that nobody waited for, such as a full disk while a bpftrace's lines are read.
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    void fail(event.reason).then(Deno.exit);
  });
  const context: Context = { terminal, interrupted: interrupted(), argv: ["llmprof", ...args], version: denoJson.version };
  try {
    const { runCommandLine } = await import("./lib/commands/cli.ts");
    return await runCommandLine(context);
  } catch (error) {
    return await fail(error);
  }
}

/** The first Ctrl-C or SIGTERM is a normal end, the second is not. */
function interrupted(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let interrupts = 0;
  const interrupt = () => {
    if (++interrupts > 1) Deno.exit(130);
    resolve();
  };
  Deno.addSignalListener("SIGINT", interrupt);
  Deno.addSignalListener("SIGTERM", interrupt);
  return promise;
}

function writer(stream: typeof Deno.stdout): (text: string) => void {
  return (text) => {
    const bytes = new TextEncoder().encode(text);
    try {
      for (let at = 0; at < bytes.length;) at += stream.writeSync(bytes.subarray(at));
    } catch (error) {
      // `llmprof … | head -1`: whoever read it has seen enough.
      if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
    }
  };
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

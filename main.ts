import process from "node:process";
import { commandLine } from "./lib/commands/cli.ts";
import { LlmprofError } from "./lib/events/errors.ts";
import denoJson from "./deno.json" with { type: "json" };

/** Parses the command line, runs, prints, exits: nothing else. */
async function main(): Promise<number> {
  const interrupted = Promise.withResolvers<void>();
  let interrupts = 0;
  const interrupt = () => {
    if (++interrupts > 1) Deno.exit(130);
    interrupted.resolve();
  };
  Deno.addSignalListener("SIGINT", interrupt);
  Deno.addSignalListener("SIGTERM", interrupt);
  const write = (stream: typeof Deno.stdout) => (text: string) => {
    const bytes = new TextEncoder().encode(text);
    for (let at = 0; at < bytes.length;) at += stream.writeSync(bytes.subarray(at));
  };
  const terminal = {
    out: write(Deno.stdout),
    err: write(Deno.stderr),
    width: process.stdout.columns ?? 100,
    colour: Deno.stdout.isTerminal(),
    live: Deno.stderr.isTerminal(),
  };
  let code = 0;
  const context = { terminal, interrupted: interrupted.promise, argv: ["llmprof", ...Deno.args], version: denoJson.version };
  try {
    await commandLine(context, (result) => code = result).parseAsync(Deno.args, { from: "user" });
  } catch (error) {
    if (!(error instanceof LlmprofError)) throw error;
    terminal.err(`${error.what} ${error.why}\n${error.next}\n`);
    return error.exitCode;
  }
  return code;
}

Deno.exit(await main());

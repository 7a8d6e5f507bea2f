import { Command, CommanderError } from "@commander-js/extra-typings";
import { ExitCode } from "../events/errors.ts";
import { completionsCommand } from "./cli/completions.ts";
import { demoCommand } from "./cli/demo.ts";
import { doctorCommand } from "./cli/doctor.ts";
import { exportCommand } from "./cli/export.ts";
import { reportCommand } from "./cli/report.ts";
import { type Done, forgetNo, helpOption, type Tracing } from "./cli/setting.ts";
import { traceCommand } from "./cli/trace.ts";
import { usageError } from "./cli/usage_error.ts";
import help from "./help.txt" with { type: "text" };
import { redactingWords } from "./redacting.ts";
import type { Context } from "./terminal.ts";

/** What main.ts knows before the command line is understood. */
export type Started = Omit<Context, "variables">;

/** Reads the command line, runs what it asks for and returns the exit code. */
export async function runCommandLine(context: Started): Promise<number> {
  let code: number = ExitCode.ok;
  const program = commandLine(context, (result) => code = result);
  for (const command of program.commands) forgetNo(command as unknown as Command);
  const args = context.argv.slice(1);
  redactingWords(args, context);
  try {
    // What a shell asks while somebody types: `llmprof complete -- operators --su`.
    if (args[0] === "complete" && args[1] === "--") {
      const { complete } = await import("./completions.ts");
      complete(program, args.slice(2), context);
    } else await program.parseAsync(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0 && error.code === "commander.help") return ExitCode.usage;
    if (error.exitCode !== 0) throw usageError(error, program, args);
  }
  return code;
}

/** The whole command line. `done` gets the exit code of the command that ran. */
export function commandLine(started: Started, done: Done): Command {
  const variables: Record<string, string> = {}, context = { ...started, variables };
  const program = new Command("llmprof")
    .usage("<command> [options] [-- program args…]")
    .version(context.version, "--version", "the version")
    .addHelpOption(helpOption)
    .showSuggestionAfterError()
    .exitOverride()
    // An error is said once, by main: see usage_error.ts.
    .configureOutput({ writeOut: context.terminal.out, writeErr: context.terminal.err, outputError: () => {}, getOutHelpWidth: () => 100 });
  // The same text that main prints without loading any of this: that takes a third of the time.
  program.helpInformation = () => help;
  const tracing = (name: Tracing, description: string) => [name, () => traceCommand(name, description, context, done)] as const;
  const makers = new Map<string, () => Command>([
    tracing("coldstart", "Where the time from exec to the first token goes."),
    tracing("operators", "Which operators take the time of a token."),
    tracing("gpu", "What is asked of a GPU: calls, copies, launches, memory, and who else uses it."),
    tracing("io", "What is read from disks and files, and how long that takes."),
    tracing("sched", "Where threads are when they are on no processor."),
    tracing("record", "Several of these on one timeline."),
    ["export", () => exportCommand(context, done)],
    ["report", () => reportCommand(context, done)],
    ["doctor", () => doctorCommand(context, done)],
    ["demo", () => demoCommand(context, done)],
    ["completions", () => completionsCommand(context, done)],
  ]);
  // Where it is known which one is meant, the others take as long as a tenth of a start.
  const meant = makers.get(context.argv[1] ?? "");
  const commands = meant ? [meant()] : [...makers.values()].map((make) => make());
  for (const command of commands) program.addCommand(command.copyInheritedSettings(program as Command));
  for (const { envVar } of commands.flatMap(({ options }) => options)) {
    if (envVar !== undefined && Deno.env.has(envVar)) variables[envVar] = Deno.env.get(envVar)!;
  }
  return program as Command;
}

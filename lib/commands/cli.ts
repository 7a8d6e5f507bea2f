import { Command, Option } from "@commander-js/extra-typings";
import { DEFAULT_BUFFER_PAGES } from "../tracing/command_line.ts";
import { collect, option, parseCount, parseDuration, parsePages, parsePattern } from "./options.ts";
import { profiles } from "./profiles.ts";
import type { Context } from "./terminal.ts";

/** The whole command line. `done` gets the exit code of the command that ran. */
export function commandLine(context: Context, done: (code: number) => void) {
  const program = new Command("llmprof")
    .description("Shows what LLM inference does to a Linux machine, without touching the model's code.")
    .version(context.version)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({ writeOut: context.terminal.out, writeErr: context.terminal.err });
  program.addCommand(traceCommand("coldstart", "where the time from exec to the first token goes", context, done));
  program.addCommand(traceCommand("operators", "which operators take the time of a token", context, done));
  return program;
}

function traceCommand(name: string, description: string, context: Context, done: (code: number) => void) {
  return new Command(name)
    .description(description)
    .argument("[program...]", "program to start and its arguments, after --")
    .addOption(option("--pid <N>", "this process").argParser(parseCount(1)))
    .addOption(option("--comm <NAME>", "the process of this name"))
    .addOption(option("--match <REGEX>", "the process whose command line matches").argParser(parsePattern))
    .addOption(option("--wait", "wait for a match").default(false))
    .addOption(option("--no-tree", "this one process, without its children"))
    .addOption(option("--duration <TIME>", "end after 10s, 5m …").argParser(parseDuration))
    .addOption(option("--tokens <N>", "end after so many generated tokens").argParser(parseCount(1)))
    .addOption(option("-o, --output <PATH>", "trace or recording, format by extension; repeatable").argParser(collect))
    .addOption(new Option("--no-output", "write no file"))
    .addOption(option("--summary <FORMAT>", "summary on standard output").choices(["text", "json"] as const).default("text" as const))
    .addOption(option("--max-loss <EVENTS>", "exit 4 when more events were lost").argParser(parseCount(0)))
    .addOption(option("--buffer-pages <N>", "pages of the kernel's buffer").argParser(parsePages).default(DEFAULT_BUFFER_PAGES))
    .addOption(option("--bpftrace <PATH>", "bpftrace to use"))
    .addOption(option("--quiet", "no progress").default(false))
    .action(async (words, o) => {
      const [{ trace }, profile] = await Promise.all([import("./trace.ts"), profiles[name]!()]);
      const outputs = o.output === false ? [] : o.output as string[] | undefined ?? [defaultOutput(name)];
      done(await trace(profile, { ...o, outputs, program: words }, context));
    });
}

/** `llmprof-operators-20260131-142233.pftrace` in the current folder. */
function defaultOutput(command: string): string {
  const stamp = new Date().toISOString().replace(/[-:]|\..*/g, "").replace("T", "-");
  return `llmprof-${command}-${stamp}.pftrace`;
}

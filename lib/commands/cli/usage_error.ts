import type { Command, CommanderError } from "@commander-js/extra-typings";
import { type LlmprofError, usage } from "../../events/errors.ts";
import { nearest } from "../nearest.ts";
import { severalProcesses } from "./target_program.ts";

/** What commander says of a wrong command line, as what, why and next step. */
export function usageError(error: CommanderError, program: Command, args: readonly string[]): LlmprofError {
  const message = error.message.replace(/^error: /, ""), [line = "", hint = ""] = message.split("\n");
  const command = program.commands.find((c) => c.name() === args[0]);
  const help = `llmprof ${command ? `${command.name()} ` : ""}--help`;
  const suggested = /^\(Did you mean (?:one of )?(.*)\?\)$/.exec(hint)?.[1];
  const invalid = /^option '(.+?)' (?:argument|value) '([^]*?)'( from env '\w+')? is invalid\. ([^]*)$/.exec(message) ??
    rearranged(/^command-argument value '([^]*)' is invalid for argument '(.+?)'\. ([^]*)$/.exec(message));
  if (invalid) {
    const [, flags, value, env = "", why] = invalid;
    const name = /--[\w-]+/.exec(flags!)?.[0] ?? flags!;
    const words = value!.trim().split(/\s+/);
    if (name === "--pid" && words.length > 1 && words.every((word) => /^\d+$/.test(word))) return severalProcesses(command!.name(), words.length);
    const choices = /^Allowed choices are (.*)\.$/.exec(why!)?.[1]?.split(", ") ?? [];
    const near = nearest(value!, choices);
    return usage(
      `${name} cannot be '${inOneLine(value!)}'${env}.`,
      choices.length > 0 ? `It is ${choices.join(" or ")}.` : inOneLine(why!),
      near ? `Did you mean ${near}? See: ${help}` : `See: ${help}`,
    );
  }
  const why = reasons[error.code] ?? "The command line was not understood.";
  const what = `${line.charAt(0).toUpperCase()}${line.slice(1).replace(/\.?$/, ".")}`;
  return usage(what, why, suggested ? `Did you mean ${suggested}? See: ${help}` : `See: ${help}`);
}

/** What a shell puts there, as `"$(pgrep server)"`, may have several. */
function inOneLine(text: string): string {
  return text.trim().replace(/\s+/g, " ");
}

const reasons: Readonly<Record<string, string>> = {
  "commander.unknownOption": "There is no such option here; a program's own options come after --.",
  "commander.unknownCommand": "It is none of llmprof's.",
  "commander.optionMissingArgument": "It needs a value.",
  "commander.missingArgument": "It needs one.",
  "commander.excessArguments": "It takes no more words.",
  "commander.conflictingOption": "They contradict each other.",
};

/** The same parts as of an option. */
function rearranged(found: RegExpExecArray | null): readonly (string | undefined)[] | null {
  return found && [found[0], `<${found[2]}>`, found[1], undefined, found[3]];
}

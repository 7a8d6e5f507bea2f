import tab, { RootCommand } from "@bomb.sh/tab";
import type { Command, Option } from "@commander-js/extra-typings";
import type { Context } from "./terminal.ts";

/** Prints the script that a shell reads once; the shell then asks {@link complete} while somebody types. */
export function printScript(shell: "bash" | "zsh" | "fish", { terminal }: Context): void {
  const script = printed(() => tab.setup("llmprof", "llmprof", shell));
  terminal.out(shell === "bash" ? forPlainBash(script) : script);
}

/** Answers a shell: a word a line, and what to do when there is none. The last word is the one being typed. */
export function complete(program: Command, words: readonly string[], { terminal }: Pick<Context, "terminal">): void {
  const root = new RootCommand();
  for (const command of program.commands) {
    const known = root.command(command.name(), command.description());
    const help = command.createHelp();
    for (const option of help.visibleOptions(command as Command)) addOption(known, option);
    for (const argument of command.registeredArguments) {
      const { argChoices } = argument;
      if (argChoices) known.argument(argument.name(), (say) => argChoices.forEach((choice) => say(choice, "")));
    }
  }
  // Behind `--` stands another program's command line, and a path is the shell's own affair.
  if (words.slice(0, -1).includes("--") || wantsPath(program, words)) return terminal.out(`:${FILES}\n`);
  terminal.out(printed(() => root.parse([...words])));
}

/** tab's word for: complete names of files. */
const FILES = 0;

function addOption(command: ReturnType<RootCommand["command"]>, { long, short, description, argChoices, required }: Option): void {
  const name = long!.slice("--".length);
  const alias = short?.slice(1);
  if (required) command.option(name, description, (say) => argChoices?.forEach((choice) => say(choice, "")), alias);
  else if (alias) command.option(name, description, alias);
  else command.option(name, description);
}

/** Whether a path is being typed: the value of an option that says so, or an argument that a command needs and that has no choices. */
function wantsPath(program: Command, [name, ...words]: readonly string[]): boolean {
  const command = program.commands.find((command) => command.name() === name);
  const typed = words.at(-1), before = words.at(-2);
  if (!command || typed === undefined) return false;
  const option = command.options.find(({ long, short }) => before !== undefined && (before === long || before === short));
  if (option?.required) return /PATH|FILE|DIR/.test(option.flags);
  return !typed.startsWith("-") && command.registeredArguments.some(({ required, argChoices }) => required && !argChoices);
}

/** What tab says: it has no other way to say it than the console, so it gets one that keeps the lines. */
function printed(print: () => void): string {
  const lines: string[] = [];
  const { console } = globalThis;
  globalThis.console = { ...console, log: (line: string) => void lines.push(line) };
  try {
    print();
  } finally {
    globalThis.console = console;
  }
  return lines.map((line) => `${line}\n`).join("");
}

/**
 * tab's script calls a function of the package bash-completion, which a plain bash lacks: the same in a few lines. `-o default` completes files
 * where nothing else is known, and a second reading of the script may not fail at its `readonly`.
 */
function forPlainBash(script: string): string {
  const fallback = `
if ! declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref() {
        words=("\${COMP_WORDS[@]}")
        cword=$COMP_CWORD
        cur=\${COMP_WORDS[COMP_CWORD]}
        prev=\${COMP_WORDS[COMP_CWORD - 1]}
    }
fi
`;
  return fallback.trimStart() + script.replaceAll(/^readonly (\w+=)/gm, "$1").replace("\ncomplete -F", "\ncomplete -o default -F");
}

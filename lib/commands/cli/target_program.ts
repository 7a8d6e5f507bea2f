import type { Command } from "@commander-js/extra-typings";
import { type LlmprofError, usage } from "../../events/errors.ts";
import { quoteWord } from "../../machine/needs/shell.ts";
import type { Context } from "../terminal.ts";

interface Named {
  readonly pid?: number;
  readonly comm?: string;
  readonly match?: RegExp;
  readonly container?: string;
  readonly all?: true;
  readonly from?: string;
}

const TARGETS = ["pid", "comm", "match", "container", "all", "from"] as const;

/** A program that is typed takes the place of a target that the environment names. */
export function preferProgram(command: Command, { argv }: Context): void {
  if (programIn(argv).length === 0) return;
  for (const option of command.options) if (TARGETS.some((name) => name === option.attributeName())) option.envVar = undefined;
}

/** `--pid $(pidof server)`, and with quotes about it. */
export function severalProcesses(command: string, count: number): LlmprofError {
  const next = `Try: llmprof ${command} --comm NAME   (or --match REGEX; where several match, they are listed)`;
  return usage(`--pid is one process, and ${count} are named.`, "Its children are followed, and no others.", next);
}

function programIn(argv: readonly string[]): string[] {
  const end = argv.indexOf("--");
  return end < 0 ? [] : argv.slice(end + 1);
}

/**
 * The program to start. It stands after `--`, so that its options are its own: without, `llmprof operators ./server --tokens 5` would take
 * `--tokens` for itself.
 */
export function targetProgram(command: string, words: readonly string[], named: Named, { argv }: Context): string[] {
  const program = programIn(argv);
  if (words.length > program.length) {
    const all = words.slice(0, words.length - program.length);
    if (named.pid !== undefined && all.every((word) => /^\d+$/.test(word))) throw severalProcesses(command, all.length + 1);
    throw usage(
      `Unexpected word '${all[0]}'.`,
      "A program to start comes after --.",
      `Try: llmprof ${command} -- ${words.map(quoteWord).join(" ")}   (or name a running process with --pid, --comm or --match)`,
    );
  }
  if (argv.includes("--") && program.length === 0) {
    throw usage("No program follows --.", "There is nothing to start.", `Try: llmprof ${command} -- program args…`);
  }
  const [other] = TARGETS.filter((name) => named[name] !== undefined);
  if (program.length > 0 && other) {
    throw usage(
      `--${other} cannot be used with a program after --.`,
      "Each names a target.",
      `Leave one of them out. See: llmprof ${command} --help`,
    );
  }
  return program;
}

import { Pseudonyms } from "../timeline/pseudonyms.ts";
import type { Context } from "./terminal.ts";

/**
 * Runs a command under `--redact`: what fails is told without the words that it hides, too, whether somebody waits for it or not.
 *
 * @param program Program and arguments, as typed.
 * @param typed What else of the command line names something: a recording, an output, a process.
 */
export async function redacting(
  redact: boolean,
  program: readonly string[],
  typed: readonly (string | undefined)[],
  { retellFailures }: Pick<Context, "retellFailures">,
  run: (pseudonyms?: Pseudonyms) => Promise<number>,
): Promise<number> {
  if (!redact) return await run();
  const pseudonyms = pseudonymsOf(program, typed);
  retellFailures((error) => pseudonyms.error(error));
  return await run(pseudonyms);
}

/** The same for what is wrong with the command line itself: until it is understood, any word of it may name something. */
export function redactingWords(args: readonly string[], { retellFailures }: Pick<Context, "retellFailures">): void {
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const [, ...own] = args.slice(0, end);
  if (!own.includes("--redact") && !Deno.env.has("LLMPROF_REDACT")) return;
  const typed = own.map((word) => word.replace(/^(?:--[\w-]+=|-o)/, "")).filter((word) => !word.startsWith("-"));
  const pseudonyms = pseudonymsOf(args.slice(end + 1), typed);
  retellFailures((error) => pseudonyms.error(error));
}

function pseudonymsOf(program: readonly string[], typed: readonly (string | undefined)[]): Pseudonyms {
  const pseudonyms = new Pseudonyms();
  pseudonyms.argv(program);
  // A path, too: of its folders nothing else is known.
  for (const word of [program[0], ...typed]) if (word !== undefined) pseudonyms.name(word);
  for (const name of ["HOME", "SUDO_HOME", "USER", "LOGNAME", "SUDO_USER"]) {
    const value = Deno.env.get(name);
    if (value !== undefined && value !== "root" && value !== "/root") pseudonyms.name(value);
  }
  return pseudonyms;
}

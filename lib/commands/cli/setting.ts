import { type Command, Option } from "@commander-js/extra-typings";
import type { Layer } from "../../programs/layers.ts";
import { examples, groups } from "./texts.ts";

/** Gets the exit code of the command that ran. */
export type Done = (code: number) => void;

/** A command that traces. */
export type Tracing = Layer | "record";

/** Of an option that not every command has. */
const owners = new WeakMap<object, readonly Tracing[]>();

/**
 * An option that an environment variable mirrors: `--buffer-pages` is `LLMPROF_BUFFER_PAGES`. `of`: commands that have it; others that trace neither
 * show nor take it, whatever the environment says.
 */
export function option<Flags extends string>(
  flags: Flags,
  description: string,
  group: keyof typeof groups = "general",
  of?: readonly Tracing[],
): Option<Flags> {
  const name = /--([\w-]+)/.exec(flags)![1]!;
  const made = new Option(flags, description).env(`LLMPROF_${name.replaceAll("-", "_").toUpperCase()}`).helpGroup(groups[group]) as Option<Flags>;
  if (of) owners.set(made, of);
  return made;
}

export function hasOption(name: Tracing, option: Option): boolean {
  return owners.get(option)?.includes(name) ?? true;
}

/**
 * An empty variable is none, nor is one that says no to an option without a value: commander would take both for a yes. What a target is given is not
 * touched: it is read where the kernel keeps it.
 */
export function forgetNo(command: Command): void {
  for (const { envVar, required, optional } of command.options) {
    const said = envVar && Deno.env.get(envVar);
    if (said === "" || (said && !required && !optional && /^(0|false|no|off)$/i.test(said))) Deno.env.delete(envVar!);
  }
}

/** What the environment says of a machine gives way to what is typed against it: where bpftrace is, to a recording. */
export function preferTyped(command: Command): void {
  for (const typed of command.options) {
    command.on(`option:${typed.name()}`, () => {
      // Typings of commander do not know what it keeps.
      const isAgainst = (one: object, other: Option) => (one as { conflictsWith: string[] }).conflictsWith.includes(other.attributeName());
      for (const other of command.options) if (isAgainst(typed, other) || isAgainst(other, typed)) other.envVar = undefined;
    });
  }
}

/** `-h` where the other general options are. */
export const helpOption = new Option("-h, --help", "this text").helpGroup(groups.general);

export function explained(command: Command): Command {
  return command.addHelpText("after", examples[command.name()]!);
}

import { Pseudonyms } from "../timeline/pseudonyms.ts";

/**
 * Runs a command under `--redact`: what fails is told without the words that it hides, too.
 *
 * @param program Program and arguments, as typed.
 * @param typed What else of the command line names something: a recording, an output, a process.
 */
export async function redacting(
  redact: boolean,
  program: readonly string[],
  typed: readonly (string | undefined)[],
  run: (pseudonyms?: Pseudonyms) => Promise<number>,
): Promise<number> {
  if (!redact) return await run();
  const pseudonyms = new Pseudonyms();
  pseudonyms.argv(program);
  for (const word of typed) if (word !== undefined) pseudonyms.name(word);
  for (const name of ["HOME", "SUDO_HOME", "USER", "LOGNAME", "SUDO_USER"]) {
    const value = Deno.env.get(name);
    if (value !== undefined && value !== "root" && value !== "/root") pseudonyms.name(value);
  }
  try {
    return await run(pseudonyms);
  } catch (error) {
    throw pseudonyms.error(error);
  }
}

import { Pseudonyms } from "../timeline/pseudonyms.ts";

/**
 * Runs a command under `--redact`: what fails is told without the words that it hides, too.
 *
 * @param typed Words of the command line that say who is looked at.
 */
export async function redacting(redact: boolean, typed: readonly string[], run: (pseudonyms?: Pseudonyms) => Promise<number>): Promise<number> {
  if (!redact) return await run();
  const pseudonyms = new Pseudonyms();
  pseudonyms.argv(typed);
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

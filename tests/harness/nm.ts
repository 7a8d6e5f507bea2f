import { mustRun } from "./command.ts";

/** Functions that `nm` names in a file (`T`), by name: their addresses as it prints them. `_start` and what linkers add is left out. */
export async function parseElfFunctions(nm: string, path: string): Promise<Map<string, string>> {
  const { stdout } = await mustRun([nm, path]);
  const found = stdout.matchAll(/^([0-9a-f]+) T (?!_)(\w+)$/gm);
  return new Map([...found].map(([, address, name]) => [name!, address!]));
}

import { join } from "node:path";
import { mustRun } from "./command.ts";
import { top } from "./places.ts";
import { temporary } from "./temporary.ts";

/**
 * What statements print that run in a folder that is no more, behind these imports (name → module). In a process of its own: others of this one start programs
 * from where they are.
 */
export async function inGoneFolder(imports: Readonly<Record<string, URL>>, statements: string): Promise<string> {
  using folder = temporary();
  const script = folder.file("script.ts");
  const lines = Object.entries(imports).map(([name, { href }]) => `import { ${name} } from ${JSON.stringify(href)};\n`);
  Deno.writeTextFileSync(
    script,
    `${lines.join("")}
    const gone = Deno.makeTempDirSync();
    Deno.chdir(gone);
    Deno.removeSync(gone);
    ${statements}`,
  );
  return (await mustRun([Deno.execPath(), "run", "-A", "--no-check", "--config", join(top, "deno.json"), script])).stdout;
}

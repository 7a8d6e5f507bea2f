import { usage } from "../events/errors.ts";
import type { Owner } from "../machine/regular_file.ts";
import { harmless } from "../events/text.ts";
import { outputFolder } from "./output_folder.ts";
import type { Planned } from "./planned_program.ts";

/** Where `--dry-run -o DIR` puts the programs; null without `-o`. */
export function programFolder(folders: readonly string[], owner: Owner | null): { write(program: Planned): string } | null {
  const [folder, second] = folders;
  if (folder === undefined) return null;
  if (second !== undefined) throw usage("--dry-run writes into one folder.", "-o names two.", "Leave one of them out.");
  const output = outputFolder(folder, owner, "-o DIR");
  return {
    /** The program, with the command line above it that runs it; returns that line. */
    write(program) {
      const name = `${program.stream}.bt`;
      const command = program.commandLine(`${folder}/${name}`);
      const heading = [...program.heading, harmless(command)].map((line) => `// ${line}\n`).join("");
      output.write(name, new TextEncoder().encode(heading + program.text));
      return command;
    },
  };
}

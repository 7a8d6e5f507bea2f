import { type Owner, RegularFile } from "../machine/regular_file.ts";
import { harmless } from "../events/text.ts";
import { usage } from "./cli/usage_error.ts";
import { notWritable } from "./output_checks.ts";
import type { Planned } from "./planned_program.ts";

/** Where `--dry-run -o DIR` puts the programs; null without `-o`. */
export function programFolder(folders: readonly string[], owner: Owner | null): { write(program: Planned): string } | null {
  const [folder, second] = folders;
  if (folder === undefined) return null;
  if (second !== undefined) throw usage("--dry-run writes into one folder.", "-o names two.", "Leave one of them out.");
  try {
    Deno.mkdirSync(folder, { recursive: true });
  } catch (cause) {
    const why = cause instanceof Error ? `${cause.message.replace(/\s*\(os error.*|: mkdir.*$/, "")}.` : "It is no folder.";
    throw usage(`Cannot write into ${folder}.`, why, "With --dry-run, -o names a folder: -o DIR");
  }
  return {
    /** The program, with the command line above it that runs it; returns that line. */
    write(program) {
      const path = `${folder}/${program.stream}.bt`;
      const command = program.commandLine(path);
      const heading = [...program.heading, harmless(command)].map((line) => `// ${line}\n`).join("");
      try {
        const file = RegularFile.create(path, owner);
        file.truncate();
        file.write(new TextEncoder().encode(heading + program.text));
        file.close();
      } catch (cause) {
        throw notWritable(path, cause);
      }
      return command;
    },
  };
}

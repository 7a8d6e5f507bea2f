import { join } from "node:path";

/** Where a program lies, or null. Looks where administrators' programs are too: a person's PATH on Debian ends before them. */
export function findProgram(name: string): string | null {
  const folders = [...(Deno.env.get("PATH") ?? "").split(":").filter(Boolean), "/usr/local/sbin", "/usr/sbin", "/sbin"];
  for (const folder of folders) {
    try {
      const path = join(folder, name);
      const { isFile, mode } = Deno.statSync(path);
      if (isFile && (mode! & 0o111) !== 0) return path;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

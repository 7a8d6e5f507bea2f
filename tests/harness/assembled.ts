import { mustRun } from "./command.ts";
import type { Temporary } from "./temporary.ts";

/** Assembles a source as its first lines say, into `program` of the folder, and returns its code. `prefix`: of the binutils, for another architecture. */
export async function assembled(source: URL, folder: Temporary, prefix = ""): Promise<Uint8Array> {
  await mustRun([`${prefix}as`, "-o", folder.file("object"), source.pathname]);
  await mustRun([`${prefix}ld`, "-Ttext=0x400000", "-o", folder.file("program"), folder.file("object")]);
  await mustRun([`${prefix}objcopy`, "-O", "binary", "-j", ".text", folder.file("program"), folder.file("code")]);
  return Deno.readFileSync(folder.file("code"));
}

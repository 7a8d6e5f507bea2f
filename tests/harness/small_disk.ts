import assert from "node:assert/strict";
import { type Temporary, temporary } from "./temporary.ts";

/** A folder on a disk of its own in memory, of so many KiB: who writes more finds it full. Needs root. */
export function smallDisk(kibibytes: number): Temporary {
  const folder = temporary();
  const mounted = new Deno.Command("mount", { args: ["-t", "tmpfs", "-o", `size=${kibibytes}k`, "tmpfs", folder.path] }).outputSync();
  assert.equal(mounted.code, 0, new TextDecoder().decode(mounted.stderr));
  return {
    ...folder,
    [Symbol.dispose]() {
      new Deno.Command("umount", { args: ["--lazy", folder.path] }).outputSync();
      folder[Symbol.dispose]();
    },
  };
}

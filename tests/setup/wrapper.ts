import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * Writes a script that runs the bpftrace of another root as if it were installed here: by that root's own loader, with its libraries. All else is the
 * machine's: processes, files, the working folder. Its one step is an `exec`, so that signals and the parent's death reach bpftrace, and its pid is the
 * one that the caller knows. A link gives the loader the name by which the process table knows a bpftrace.
 */
export function writeWrapper(path: string, root: string): void {
  const script = `#!/bin/sh
# Written by tests/setup/wrapper.ts. Runs the bpftrace in ${root}/ beside this file.
root=$(dirname "$0")/${root}
exec "$root/bpftrace" --library-path "$root"/usr/lib/*-linux-gnu "$root/usr/bin/bpftrace" "$@"
`;
  Deno.writeTextFileSync(path, script);
  Deno.chmodSync(path, 0o755);
  const folder = join(path, "..", root);
  const link = join(folder, "bpftrace");
  if (!existsSync(link)) Deno.symlinkSync(loaderIn(folder), link);
}

/** Below the root: `usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2`. */
function loaderIn(root: string): string {
  for (const { name: triple } of Deno.readDirSync(join(root, "usr/lib"))) {
    if (!triple.endsWith("-linux-gnu")) continue;
    for (const { name } of Deno.readDirSync(join(root, "usr/lib", triple))) {
      if (/^ld-linux-.*\.so\.\d+$/.test(name)) return join("usr/lib", triple, name);
    }
  }
  throw new Error(`${root} has no loader.`);
}

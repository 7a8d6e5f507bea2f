/**
 * Writes a script that runs the bpftrace of another root as if it were installed here: by that root's own loader, with its libraries. All else is the
 * machine's: processes, files, the working folder. Its one step is an `exec`, so that signals and the parent's death reach bpftrace, and its pid is the
 * one that the caller knows.
 */
export function writeWrapper(path: string, root: string): void {
  const script = `#!/bin/sh
# Written by tests/setup/wrapper.ts. Runs the bpftrace in ${root}/ beside this file.
lib=$(dirname "$0")/${root}/usr/lib
exec "$lib"/*/ld-linux-*.so.* --library-path "$lib"/*-linux-gnu "$lib"/../bin/bpftrace "$@"
`;
  Deno.writeTextFileSync(path, script);
  Deno.chmodSync(path, 0o755);
}

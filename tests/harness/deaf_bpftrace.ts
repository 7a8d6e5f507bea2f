import type { Temporary } from "./temporary.ts";

/** The same bpftrace, which is told no names of places and says of itself that it accepts no offsets: it finds functions alone. */
export function deafBpftrace(path: string, folder: Temporary): string {
  const deaf = folder.file("bpftrace");
  const info = `if [ "$1" = --info ]; then "${path}" --info 2>&1 | sed 's/bfd: yes/bfd: no/'; exit; fi`;
  Deno.writeTextFileSync(deaf, `#!/bin/sh\nunset BCC_SYMFS\n${info}\nexec "${path}" "$@"\n`);
  Deno.chmodSync(deaf, 0o755);
  return deaf;
}

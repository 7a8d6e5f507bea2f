import type { Temporary } from "./temporary.ts";

/** The same bpftrace, which stands still before it attaches a program in which `pattern` (for `grep`) is found, until whoever ends it lets it go on. */
export function heldBpftrace(path: string, folder: Temporary, pattern = ""): string {
  const held = folder.file("bpftrace");
  const given = `cat > "$0.$$"\n  if grep -q '${pattern}' "$0.$$"; then kill -STOP $$; fi\n  exec < "$0.$$"`;
  Deno.writeTextFileSync(held, `#!/bin/sh\nfor last; do :; done\nif [ "$last" = - ]; then\n  ${given}\nfi\nexec "${path}" "$@"\n`);
  Deno.chmodSync(held, 0o755);
  return held;
}

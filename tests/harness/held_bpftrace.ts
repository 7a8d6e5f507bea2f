import type { Temporary } from "./temporary.ts";

/**
 * The same bpftrace, which stands still before it attaches a program in which `pattern` (for `grep`) is found, until whoever ends it lets it go on. Then it
 * takes a second to end, as one does that has to let go of probes.
 */
export function heldBpftrace(path: string, folder: Temporary, pattern = ""): string {
  const held = folder.file("bpftrace");
  const given = `cat > "$0.$$"\n  if grep -q '${pattern}' "$0.$$"; then trap exit INT; kill -STOP $$; sleep 1; fi\n  exec < "$0.$$"`;
  Deno.writeTextFileSync(held, `#!/bin/sh\nfor last; do :; done\nif [ "$last" = - ]; then\n  ${given}\nfi\nexec "${path}" "$@"\n`);
  Deno.chmodSync(held, 0o755);
  return held;
}

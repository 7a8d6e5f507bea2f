import assert from "node:assert/strict";
import { render } from "../../lib/programs/render.ts";
import { recentDialect } from "../../tests/harness/dialect.ts";
import { cache } from "../memory/cache.ts";

/** Where a program looks for the registers. */
function place(arch: "x86_64" | "aarch64", pageBytes: number): string {
  const { text } = render(
    { stream: "io", probes: [cache], filter: { type: "processes", pids: [7] }, window: "open" },
    { ...recentDialect, arch, pageBytes },
    () => [],
  );
  return /\$regs = .*/.exec(text)![0];
}

Deno.test("call in progress: registers lie at the end of the kernel's stack, and are as long as the kernel at hand says", () => {
  assert.match(place("x86_64", 4096), /^\$regs = \(uint64\)curtask->stack \+ \(16384 - sizeof\(struct pt_regs\)\);.* \$regs = \$regs - \(16\); }$/);
  assert.match(place("aarch64", 65_536), /^\$regs = \(uint64\)curtask->stack \+ \(65536 - sizeof\(struct pt_regs\)\);.* \$regs = \$regs - \(0\); }$/);
});

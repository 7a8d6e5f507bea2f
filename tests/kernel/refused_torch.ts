import assert from "node:assert/strict";
import type { Finished } from "../harness/command.ts";

/** Where probes are placed one by one, a program that llmprof starts is not traced. */
export function assertRefused({ code, stderr }: Finished): void {
  assert.equal(code, 1);
  assert.match(stderr, /never seen in the target\..*\n.*PyTorch is traced, with this bpftrace, while it runs: --pid N/);
}

/** Whether this bpftrace attaches to all operators at once. */
export function placesThousands(version: string): boolean {
  return !version.startsWith("0.17");
}

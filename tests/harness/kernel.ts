import { type Bpftrace, bpftraces } from "./bpftraces.ts";
import { type Needs, unmet } from "./needs.ts";

export type KernelTest = (t: Deno.TestContext) => void | Promise<void>;

/** Registers a test that runs where its needs are met, and says in its name why it does not run where they are not. */
export function kernelTest(name: string, needs: Needs, fn: KernelTest): void {
  const why = unmet(needs);
  Deno.test({ name: why === null ? name : `${name} (skipped: ${why})`, ignore: why !== null, fn });
}

/** The same test once with every bpftrace that is here; one skipped test where there is none. */
export function matrixTest(name: string, needs: Needs, fn: (bpftrace: Bpftrace, t: Deno.TestContext) => void | Promise<void>): void {
  const all = { ...needs, bpftrace: true };
  if (unmet(all) !== null) return kernelTest(name, all, () => {});
  for (const bpftrace of bpftraces()) kernelTest(`${name}, bpftrace ${bpftrace.name}`, all, (t) => fn(bpftrace, t));
}

import { type Bpftrace, bpftraces, handsOverAll } from "./bpftraces.ts";
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

/** With the first bpftrace that hands over all arguments of a marker (USDT), or with the first that does not. */
export function markersTest(name: string, handsOver: boolean, fn: (bpftrace: Bpftrace) => Promise<void>): void {
  const bpftrace = unmet({ bpftrace: true }) === null ? bpftraces().find((one) => handsOverAll(one) === handsOver) : undefined;
  const needs = { bpftrace: true, ...handsOver ? { markers: true } : { refusesMarkers: true } };
  kernelTest(bpftrace ? `${name}, bpftrace ${bpftrace.name}` : name, needs, () => fn(bpftrace!));
}

/**
 * For one of many tests that look at the same code from many sides, and for what no version does in a way of its own: it runs with one bpftrace, another
 * test with another. Where LLMPROF_TEST_ALL is set it runs with every one, and `rare` tests run only there.
 */
export function sampledTest(index: number, name: string, needs: Needs, fn: (bpftrace: Bpftrace) => Promise<void>, rare = false): void {
  if (Deno.env.has("LLMPROF_TEST_ALL")) return matrixTest(name, needs, fn);
  const all = { ...needs, bpftrace: true };
  if (rare) return void Deno.test({ name: `${name} (skipped: LLMPROF_TEST_ALL is not set)`, ignore: true, fn() {} });
  const found = unmet(all) === null ? bpftraces() : [];
  const bpftrace = found[index % found.length];
  kernelTest(bpftrace ? `${name}, bpftrace ${bpftrace.name}` : name, all, () => fn(bpftrace!));
}

import assert from "node:assert/strict";
import type { Fact, ProgramFact } from "../events/fact.ts";
import type { Instant } from "../events/span.ts";
import { splitBase } from "../events/time.ts";
import { Timeline } from "../timeline/timeline.ts";
import { TestSpans } from "../../tests/harness/spans.ts";
import { TraceRun } from "./trace_run.ts";

Deno.test("a run keeps what turns say of their sites once, however many there are", () => {
  const run = new TraceRun({} as never, {} as never);
  const turn = (stream: string, name = "cudaMalloc"): ProgramFact => {
    const site = { probe: "cudart/calls", site: "libcudart.so.12: 1 function", cost: "stepped", records: ["cudart/calls.call"] };
    return { fact: "program", stream, sites: [{ ...site, functions: { stepped: [name] } }] };
  };
  const told = [turn("cudart"), turn("cudart-2"), turn("cudart-3", "cudaFree")];
  for (const fact of told) run.onFact(fact);
  assert.deepEqual(run.facts, told);
  const [first, second, third] = run.facts as ProgramFact[];
  assert.equal(second!.sites, first!.sites);
  assert.notEqual(third!.sites, first!.sites);
});

Deno.test("a run's target has the exit code that llmprof is told of a program that it started, or that was seen; none as long as it runs", () => {
  const exitCode = (facts: readonly Fact[], ...ends: readonly Instant[]) => {
    const profile = { analyse: () => ({ span() {}, result: () => null }), present: () => [] };
    const outputs = { begin: () => ({ out() {}, recording: null }), finish() {}, files: [], written: [] };
    const run = new TraceRun(profile as never, outputs as never);
    const clock = { name: "boottime", base: 0n, realtimeOffset: 0n };
    const { out } = run.open({ command: "io", clock, target: { pid: 100, argv: ["server"], started: false }, host: {}, bpftrace: null } as never);
    for (const fact of facts) run.onFact(fact);
    for (const end of ends) out(end);
    return run.finish(new Timeline({ base: splitBase(0n), find: () => undefined, out() {} })).summary.target!.exitCode;
  };
  const ends = (pid: number, code: number, signal: number): Instant => ({ ...new TestSpans(pid).exit(5), ended: { code, signal } });
  assert.equal(exitCode([], ends(100, 3, 0)), 3);
  assert.equal(exitCode([], ends(100, 0, 11), ends(200, 1, 0)), 139);
  assert.equal(exitCode([], ends(200, 3, 0), new TestSpans(100).exit(5)), null);
  assert.equal(exitCode([{ fact: "exit", pid: 100, code: 143, signal: "SIGTERM" }], ends(100, 0, 15)), 143);
});

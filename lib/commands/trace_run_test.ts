import assert from "node:assert/strict";
import type { ProgramFact } from "../events/fact.ts";
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

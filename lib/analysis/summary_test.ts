import assert from "node:assert/strict";
import { coldstart } from "./coldstart.ts";
import { coldstartResultSchema } from "./coldstart_schema.ts";
import { operators } from "./operators.ts";
import { operatorsResultSchema } from "./operators_schema.ts";
import { SCHEMA_VERSION, type Summary } from "./summary.ts";
import { summarySchema } from "./summary_schema.ts";

function summary<Result>(command: string, result: Result): Summary<Result> {
  return {
    schemaVersion: SCHEMA_VERSION,
    command,
    target: { pid: 1, argv: ["engine"], exitCode: null },
    clock: { name: "boottime", baseNs: "9007199254740993", realtimeOffsetNs: "1700000000000000000" },
    startNs: 1,
    endNs: 2,
    host: {
      kernel: "6.1",
      cpu: null,
      cpus: 2,
      governor: null,
      memoryBytes: 1,
      engine: null,
      engineVersion: null,
      model: null,
      quantisation: null,
      threads: null,
      affinity: null,
      numa: 1,
    },
    bpftrace: { path: "/usr/bin/bpftrace", version: "0.17.0" },
    probes: [{ name: "llama/calls", site: "libllama.so:llama_decode", cost: "trap", hits: null }],
    events: { emitted: 1, received: 1, lost: 0, undecodable: 0 },
    overhead: { predicted: null, measured: null, calibrated: false, bpftraceCpuSeconds: 0.1, llmprofCpuSeconds: 0.2 },
    outputs: [{ path: "a.pftrace", format: "pftrace", bytes: 10 }],
    notes: [],
    result,
  };
}

Deno.test("the envelope holds each command's result, also as JSON", () => {
  const cold = summary("coldstart", coldstart().result());
  assert.deepEqual(summarySchema(coldstartResultSchema).parse(JSON.parse(JSON.stringify(cold))), cold);
  const ops = summary("operators", operators().result());
  assert.deepEqual(summarySchema(operatorsResultSchema).parse(JSON.parse(JSON.stringify(ops))), ops);
  assert.throws(() => summarySchema(operatorsResultSchema).parse({ ...ops, result: {} }));
  assert.throws(() => summarySchema(operatorsResultSchema).parse({ ...ops, clock: { ...ops.clock, baseNs: "1.5" } }));
});

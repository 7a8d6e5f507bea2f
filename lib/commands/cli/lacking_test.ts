import assert from "node:assert/strict";
import type { LlmprofError } from "../../events/errors.ts";
import { refuseOfGraphs, refuseOfShapes } from "./lacking.ts";

Deno.test("lacking: shapes are read where a caller puts what they are looked for, and refused elsewhere", () => {
  refuseOfShapes({ shapes: true }, "x86_64");
  refuseOfShapes({}, "aarch64");
  assert.throws(() => refuseOfShapes({ shapes: true }, "aarch64"), { exitCode: 2, what: "--shapes is for x86_64." });
});

Deno.test("lacking: a graph of operators is refused where none can be seen, and no other output", () => {
  const drawn = { name: "operators", layers: ["operators"], detail: "op" } as const;
  const refused = (outputs: readonly string[], other: Partial<Parameters<typeof refuseOfGraphs>[1]>) => {
    try {
      refuseOfGraphs(outputs, { ...drawn, ...other });
    } catch (error) {
      return (error as LlmprofError).next;
    }
  };
  for (const detail of ["wait", "op", "sum"] as const) assert.equal(refused(["a.dot"], { detail }), undefined);
  assert.equal(refused(["a.json"], { isTorch: true, name: "sched", detail: "token" }), undefined);
  const next = "Try: llmprof operators --pid N --duration 10s -o";
  assert.equal(refused(["t.json", "a.mmd.gz"], { isTorch: true }), `${next} trace.pftrace`);
  assert.equal(refused(["a.graph.json"], { detail: "graph" }), `${next} a.graph.json`);
  assert.equal(refused(["a b.dot"], { name: "io" }), `${next} 'a b.dot'`);
  const record = { name: "record", layers: ["io", "sched"] } as const;
  assert.equal(refused(["a.dot"], record), "Try: llmprof record --layers operators,io,sched --pid N --duration 10s -o a.dot");
});

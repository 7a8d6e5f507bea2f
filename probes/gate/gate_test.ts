import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { callGate } from "./call.ts";
import { mappingGate } from "./mapping.ts";

Deno.test("gate: the time at which a process stood, on a row of its own", () => {
  const d = new Decoding(mappingGate({ prefixes: ["libllama."] }));
  d.event(10, "gate/mapping.stopped", { dev: 8, inode: 9, file: "libllama.so" }, "100/101");
  // The continuing comes from llmprof's own process.
  d.event(30, "gate/mapping.released", { pid: 100 }, "999");
  assert.deepEqual(d.end(40), ['100 <stopped by llmprof> llmprof.stopped "libllama.so mapped" 10–30']);
});

Deno.test("gate: each process by itself; one that nobody continued stood until the end, a strange release is nothing", () => {
  const d = new Decoding(callGate({ prefix: "libllama.", call: ["llama_init_from_model", "llama_new_context_with_model"] }));
  d.event(10, "gate/call.stopped", {}, "100");
  d.event(12, "gate/call.stopped", {}, "200");
  d.event(15, "gate/call.released", { pid: 300 }, "999");
  d.event(20, "gate/call.released", { pid: 200 }, "999");
  assert.deepEqual(d.end(40), [
    '200 <stopped by llmprof> llmprof.stopped "llama_init_from_model called" 12–20',
    '100 <stopped by llmprof> llmprof.stopped "llama_init_from_model called" 10–40 (open)',
  ]);
});

Deno.test("gate: what is asked for cannot change the program", () => {
  const { params } = mappingGate({ prefixes: ['lib"x', "liby"] });
  const nobody = { type: "begins", text: "$name", with: [] };
  const wanted = { type: "begins", text: "$name", with: ['lib"x', "liby"] };
  const { wanted: names, each, otherwise, unless, execs } = params!;
  assert.deepEqual([names, each, otherwise, unless, execs], [wanted, nobody, nobody, nobody, { type: "int", value: 0 }]);
});

import assert from "node:assert/strict";
import { graph } from "../../probes/ggml/graph.ts";
import { ops } from "../../probes/ggml/ops.ts";
import { inOne, type ProgramPart } from "./program_part.ts";

Deno.test("program part: one program for several parts has each probe once, at the sites of all", () => {
  const site = (attach: string) => ({ attach, label: attach, cost: "nop", byHand: [attach], functions: [], places: [] });
  const part = (stream: string, ...sites: string[]): ProgramPart => ({ stream, probes: [graph, ops], sites: new Map([["entry", sites.map(site)]]) });
  const { stream, probes, sites } = inOne([part("ggml", "one", "two"), part("ggml", "two", "three")]);
  assert.deepEqual([stream, probes, sites.get("entry")!.map(({ attach }) => attach)], ["target", [graph, ops], ["one", "two", "three"]]);
  assert.equal(inOne([part("process")]).stream, "process");
});

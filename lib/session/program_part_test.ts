import assert from "node:assert/strict";
import { graph } from "../../probes/ggml/graph.ts";
import { ops } from "../../probes/ggml/ops.ts";
import { request } from "../../probes/block/request.ts";
import { switches } from "../../probes/sched/switch.ts";
import { inOne, type ProgramPart, splitOnTop } from "./program_part.ts";

Deno.test("program part: one program for several parts has each probe once, at the sites of all", () => {
  const site = (attach: string) => ({ attach, label: attach, cost: "nop", byHand: [attach], functions: [], places: [] });
  const part = (stream: string, ...sites: string[]): ProgramPart => ({ stream, probes: [graph, ops], sites: new Map([["entry", sites.map(site)]]) });
  const { stream, probes, sites } = inOne([part("ggml", "one", "two"), part("ggml", "two", "three")]);
  assert.deepEqual([stream, probes, sites.get("entry")!.map(({ attach }) => attach)], ["target", [graph, ops], ["one", "two", "three"]]);
  assert.equal(inOne([part("process")]).stream, "process");
});

Deno.test("program part: what stands on top of others is apart from those that leave no room on the stack", () => {
  const part = (...probes: ProgramPart["probes"]): ProgramPart => ({ stream: "process", probes, sites: new Map() });
  const names = (part: ProgramPart, isRaw: boolean) =>
    splitOnTop(part, isRaw).map(({ stream, probes }) => [stream, ...probes.map(({ name }) => name)]);
  assert.deepEqual(names(part(graph, request, switches), true), [["process", "ggml/graph", "sched/switch"], ["disks", "block/request"]]);
  assert.deepEqual(names(part(graph, request, switches), false), [["process", "ggml/graph", "block/request", "sched/switch"]]);
  assert.deepEqual(names(part(graph, request), true), [["process", "ggml/graph", "block/request"]]);
  assert.deepEqual(names(part(switches), true), [["process", "sched/switch"]]);
});

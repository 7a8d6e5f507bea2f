import assert from "node:assert/strict";
import { counters } from "../../probes/ggml/counters.ts";
import { graph } from "../../probes/ggml/graph.ts";
import { ops } from "../../probes/ggml/ops.ts";
import { request } from "../../probes/block/request.ts";
import { switches } from "../../probes/sched/switch.ts";
import type { Filter } from "../programs/filter.ts";
import { groupByLibrary } from "./library_groups.ts";
import { countable, gateParts, inPrograms, kernelPart, type ProgramPart, splitOnTop } from "./program_part.ts";

Deno.test("program part: one program for several parts has each probe once, at the sites of all", () => {
  const site = (attach: string) => ({ attach, label: attach, cost: "nop", byHand: [attach], functions: [], places: [] });
  const part = (stream: string, ...sites: string[]): ProgramPart => ({ stream, probes: [graph, ops], sites: new Map([["entry", sites.map(site)]]) });
  const [{ stream, probes, sites }, ...others] = inPrograms([part("ggml", "one", "two"), part("ggml", "two", "three")]) as [ProgramPart];
  assert.deepEqual([stream, probes, sites.get("entry")!.map(({ attach }) => attach)], ["target", [graph, ops], ["one", "two", "three"]]);
  assert.deepEqual(others, []);
  assert.deepEqual(inPrograms([part("process")]).map(({ stream }) => stream), ["process"]);
});

Deno.test("program part: libraries that number or lay out otherwise what is read of them are in programs of their own", () => {
  const kernel: ProgramPart = { stream: "process", probes: [switches], sites: new Map() };
  const part = (stream: string, names: readonly string[] | null, name: number): ProgramPart => ({
    stream,
    probes: [ops],
    sites: new Map(),
    offsets: new Map([["ggml_get_name", name]]),
    table: names && { symbol: "GGML_OP_NAME", file: stream, names },
  });
  const all = [
    kernel,
    part("new", ["NONE", "DUP"], 256),
    part("new too", ["NONE", "DUP"], 256),
    part("old", ["NONE", "DUP"], 264),
    part("other", null, 256),
  ];
  const programs = inPrograms(all);
  assert.deepEqual(programs.map(({ stream, table, offsets, probes }) => [stream, table?.file, offsets?.get("ggml_get_name"), probes.length]), [
    ["target", "new", 256, 2],
    ["old", "old", 264, 1],
    ["other", undefined, 256, 1],
  ]);
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

Deno.test("program part: what this machine has no counters or tracepoints for is left out, and said", () => {
  const cycles = counters(1000);
  const notes: string[] = [];
  const note = (text: string) => void notes.push(text.replace(/^.*: not seen here/, "not seen here"));
  const names = (probes: ProgramPart["probes"]) => probes.map(({ name }) => name);
  assert.deepEqual(names(countable([cycles, graph], { counters: new Set() }, note)), [graph.name]);
  assert.deepEqual(names(countable([cycles, graph], { counters: new Set(["instructions"]) }, note)), [graph.name]);
  assert.deepEqual(names(countable([cycles], { counters: new Set(["instructions", "cpu-cycles"]) }, note)), [cycles.name]);
  const needing = { ...switches, tracepoints: ["sched:sched_switch"] };
  assert.deepEqual(names(kernelPart([graph, needing], { tracepoints: new Set(needing.tracepoints) }, note).probes), [needing.name]);
  assert.deepEqual(kernelPart([graph, needing], { tracepoints: new Set() }, note).probes, []);
  assert.deepEqual(notes, [
    "not seen here, this machine has no such counters, like most virtual ones",
    "not seen here, this processor has no cpu-cycles",
    "not seen here, this kernel has no sched:sched_switch",
  ]);
});

Deno.test("program part: a gate stops whoever maps what is waited for, but where llmprof would be stopped itself", () => {
  const groups = groupByLibrary([graph]);
  const notes: string[] = [];
  const gates = (filter: Filter, awaited = groups) =>
    gateParts(awaited, filter, 7, (text) => void notes.push(text)).flatMap(({ probes }) => probes.map(({ name }) => name));
  assert.deepEqual(gates({ type: "new" }), ["gate/mapping"]);
  assert.deepEqual(gates({ type: "processes", pids: [8] }), ["gate/mapping"]);
  assert.deepEqual(gates({ type: "new" }, []), []);
  assert.equal(notes.length, 0);
  assert.deepEqual(gates({ type: "tree", pids: [6, 7] }), []);
  assert.deepEqual(gates({ type: "everybody", pids: [8] }), []);
  assert.equal(notes.filter((text) => text.startsWith("the target includes llmprof itself")).length, 2);
});

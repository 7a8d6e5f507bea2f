/** The graphs that llmprof draws are those that the engine computes: every source of every node. */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { built } from "../setup/programs.ts";
import { computedEdges, computedNodes } from "../independent/tensors.ts";
import { engineCommand, engineRun, ownEngineCommand } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { drawnArrows, drawnEdges, type DrawnGraph, edge } from "./drawn.ts";
import { outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { operatorNames } from "./recorded.ts";

interface Graphs {
  readonly graphs: readonly DrawnGraph[];
  readonly more: number;
}

for (const [shape, prompt, tokens] of [["tiny", 16, 30], ["moe", 17, 15]] as const) {
  sampledTest(
    1,
    `operators: every edge of the graphs of the ${shape} model is a source of its tensor`,
    { engine: true },
    async ({ path: bpftrace }) => {
      using folder = temporary();
      const options = { model: model(shape), prompt, tokens };
      const library = (await engineRun({ ...options, tokens: 1 })).files.libggmlCpu;
      const formats = ["graph.json", "dot", "mmd"], argv = ownEngineCommand(folder, options);
      const { of, value } = await computedEdges({
        bpftrace,
        library,
        program: argv[0],
        whileRunning: async () => {
          await using llmprof = startLlmprof("operators", { bpftrace, folder, formats, target: { argv } });
          return summaryOf("operators", await llmprof.finished());
        },
      });
      const computed = of(value.target!.pid);
      const expected = computed.flat().map(({ tensor, place, source, from }) => edge(tensor, place, source, from));
      const { graphs, more }: Graphs = JSON.parse(Deno.readTextFileSync(outputPath(folder, "graph.json")));
      assert.equal(more, 0);
      assert.equal(graphs.reduce((sum, { times }) => sum + times, 0), value.result.graphs.count);
      const found = drawnEdges(graphs);
      assert.ok(expected.length > 1000, `${expected.length} sources`);
      assert.deepEqual(found.toSorted(), expected.toSorted());
      for (const { edges, unknownSources } of graphs) {
        assert.ok(edges.every(({ from, to }) => from === null || from < to), "sources come first");
        assert.equal(unknownSources, 0, "norms that were fused into products are passed through");
      }
      // One of the graphs is drawn: that which took the most time.
      const wholes = computed.map((edges) => edges.map(({ tensor, source, from = source }) => `${from} → ${tensor}`).toSorted());
      for (const format of ["dot", "mmd"]) {
        const drawn = drawnArrows(Deno.readTextFileSync(outputPath(folder, format)));
        assert.deepEqual(drawn, wholes.find((whole) => isDeepStrictEqual(whole, drawn)) ?? wholes.at(-1), `edges in .${format}`);
      }
    },
    // The mixture has all of its operators, and others.
    shape === "tiny",
  );
}

/** Nodes that show a tensor in another way: there is nothing to compute. */
const shown = ["NONE", "RESHAPE", "VIEW", "PERMUTE", "TRANSPOSE"];

// The tiny model's tokens have one graph up to the 256th position and another behind it.
for (const [index, [shape, prompt, tokens]] of ([["moe", 17, 15], ["tiny", 16, 270]] as const).entries()) {
  sampledTest(
    index,
    `operators: every node of the ${shape} model's graphs is a slice, or named in the one it was fused into`,
    { engine: true },
    async ({ path: bpftrace }) => {
      using folder = temporary();
      const options = { model: model(shape), prompt, tokens };
      const library = (await engineRun({ ...options, tokens: 1 })).files.libggmlCpu;
      const { of, value } = await computedNodes({
        bpftrace,
        library,
        whileRunning: async () => {
          await using llmprof = startLlmprof("operators", { bpftrace, folder, formats: ["llmprof"], target: { argv: engineCommand(options) } });
          return summaryOf("operators", await llmprof.finished());
        },
      });
      const names = operatorNames(outputPath(folder, "llmprof"));
      const expected = [...of(value.target!.pid)].map(([op, count]) => [names[op]!, count] as const).filter(([name]) => !shown.includes(name));
      const found = new Map<string, number>();
      for (const { name, calls } of value.result.operators) {
        if (calls > 0) { for (const op of name.split(" + ")) found.set(op, (found.get(op) ?? 0) + calls); }
      }
      assert.deepEqual([...found].toSorted(), expected.toSorted());
      assert.ok(value.result.operators.some(({ name }) => name === "ADD + RMS_NORM + MUL"), "this engine fuses norms");
    },
  );
}

/** Of timed.c: what each of its operators is computed from, by name. */
const madeFrom: Readonly<Record<string, readonly string[]>> = { a: [], b: ["a"], c: ["a"], d: ["b", "c"], e: ["c"], f: ["d"], g: ["e", "f"] };
/** Each way from the first to the last. */
const ways = ["abdfg", "acdfg", "aceg"];

// Few calls: the longer they go on, the more alike are the mean times.
for (const [index, calls] of [2, 3, 5].entries()) {
  sampledTest(
    index,
    `operators: the critical path of operators that take known times, ${calls} tokens`,
    { gcc: true },
    async ({ path: bpftrace }) => {
      using folder = temporary();
      const log = folder.file("log");
      const target = { argv: [built.timed, String(calls), log] };
      await using llmprof = startLlmprof("operators", { bpftrace, folder, formats: ["graph.json", "dot", "mmd"], target });
      const { result } = summaryOf("operators", await llmprof.finished());
      const { graphs }: Graphs = JSON.parse(Deno.readTextFileSync(outputPath(folder, "graph.json")));
      const said = Deno.readTextFileSync(log).trimEnd().split("\n").map((line) => line.split(" "));
      assert.deepEqual(graphs.map(({ times }) => times), [1, calls]);
      for (const [place, phase] of ["prefill", "decode"].entries()) {
        const { nodes, edges, criticalPath } = graphs[place]!;
        // What the program says that each took at least, and at most.
        const times = new Map(
          said.filter(([of]) => of === phase).map(([, name, n, ...ns]) => [name!.at(4)!, ns.map((sum) => Number(sum) / Number(n))]),
        );
        const lengths = ways.map((way) => [0, 1].map((end) => [...way].reduce((sum, name) => sum + times.get(name)![end]!, 0)) as [number, number]);
        // Where a trap takes long, by telling what each tensor is, the program's clock may leave open which way is the longest.
        const least = Math.max(...lengths.map(([fewest]) => fewest));
        const names = nodes.map(({ name }) => name.at(4)!);
        const found = ways.indexOf(criticalPath.nodes.map((node) => names[node]).join(""));
        const most = lengths[found]?.[1] ?? NaN;
        assert.ok(least <= most, `${phase}: ${ways[found]} of ${JSON.stringify(lengths)}`);
        assert.ok(least - 1 <= criticalPath.ns && criticalPath.ns <= most + 1, `${criticalPath.ns} ns, and ${least} to ${most} by its own clock`);
        const made = Object.fromEntries(names.map((name, to) => [name, edges.filter((edge) => edge.to === to).map(({ from }) => names[from!]!)]));
        assert.deepEqual(made, madeFrom);
      }
      const told = result.criticalPath!, { criticalPath, nodes } = graphs.find(({ times }) => times === told.times)!;
      const found = [told.graphNodes, told.nodes, Math.round(told.ns), told.unknownSources];
      assert.deepEqual(found, [nodes.length, criticalPath.nodes.length, Math.round(criticalPath.ns), 0], "the summary has the path of one of them");
      // Drawn is the graph that took the most time; n0 is its first node.
      const arrows = Object.entries(madeFrom).flatMap(([to, from]) => from.map((name) => `${name}${to}`)).toSorted();
      for (const [format, arrow] of [["dot", /n(\d) -> n(\d)/g], ["mmd", /n(\d) --> n(\d)/g]] as const) {
        const drawn = [...Deno.readTextFileSync(outputPath(folder, format)).matchAll(arrow)];
        assert.deepEqual(drawn.map(([, from, to]) => `${"abcdefg"[Number(from)]}${"abcdefg"[Number(to)]}`).toSorted(), arrows, format);
      }
    },
  );
}

sampledTest(
  2,
  "operators: of an engine that exits inside of an operator every whole graph is told, and what had not ended as such",
  { gcc: true },
  async ({ path: bpftrace }) => {
    using folder = temporary();
    // The prompt's graph and three tokens' are whole; of the next one two operators had ended.
    const target = { argv: [built.timed, "100", folder.file("log"), "7", String(4 * 7 + 3)] };
    await using llmprof = startLlmprof("operators", { bpftrace, folder, formats: ["graph.json", "jsonl"], target });
    const { result: { tokens, graphs, operators }, events } = summaryOf("operators", await llmprof.finished());
    assert.deepEqual([events.lost, events.received], [0, events.emitted]);
    assert.deepEqual([tokens.prefill, tokens.decode, tokens.openCalls, graphs.count, graphs.openCount], [5, 3, 1, 5, 1]);
    const called = operators.filter(({ calls }) => calls > 0).map(({ name, calls, openCalls }) => [name, calls, openCalls]).sort();
    assert.deepEqual(called, [["ADD", 8, 0], ["MUL", 14, 2], ["RMS_NORM", 9, 1]]);
    const drawn: Graphs = JSON.parse(Deno.readTextFileSync(outputPath(folder, "graph.json")));
    assert.deepEqual(drawn.graphs.map(({ times, nodes }) => [times, nodes.length]), [[1, 7], [3, 7]]);
    const lines = Deno.readTextFileSync(outputPath(folder, "jsonl")).trimEnd().split("\n").map((line) => JSON.parse(line));
    const open = lines.filter(({ type, open }) => type === "slice" && open).map(({ name, args }) => args?.tensor ?? name);
    assert.deepEqual(open.sort(), ["ggml_graph_compute", "llama_decode", "nodec-0"]);
  },
);

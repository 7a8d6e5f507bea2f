import assert from "node:assert/strict";
import type { Span } from "../lib/events/span.ts";
import { exported } from "../tests/judge/memory_sink.ts";
import { head } from "../tests/judge/corpus.ts";
import { computed, diamond, from, node, weight } from "../tests/harness/graphs.ts";
import { MS, TestSpans } from "../tests/harness/spans.ts";
import { temporary } from "../tests/harness/temporary.ts";
import { openByteSink } from "./file.ts";
import { openDot, openGraphJson, openMermaid } from "./graph.ts";

const text = (open: typeof openDot, spans: readonly Span[]) => exported(open, head, spans, []).text();

Deno.test("graph.json: nodes with their mean time, every source an edge, the critical path", () => {
  const s = new TestSpans();
  const { graphs, more } = JSON.parse(
    text(openGraphJson, [...computed(s, diamond), ...computed(s, diamond, 100, 3), ...computed(s, diamond.slice(0, 2), 300)]),
  );
  assert.equal(more, 0);
  assert.deepEqual(graphs.map((graph: { times: number }) => graph.times), [2, 1]);
  const [{ nodes, edges, criticalPath, unknownSources }] = graphs;
  assert.deepEqual(nodes.map(({ name, meanNs }: { name: string; meanNs: number }) => [name, meanNs / MS]), [["a", 20], ["b", 40], ["c", 10], [
    "d",
    2,
  ]]);
  assert.deepEqual(edges.map(({ from, to, place, name }: Record<string, unknown>) => [from, to, place, name]), [
    [null, 0, 0, "input"],
    [null, 1, 0, "w"],
    [0, 1, 1, "a"],
    [0, 2, 0, "a_norm"],
    [1, 3, 0, "b"],
    [2, 3, 2, "c (view)"],
    [null, 3, 3, "unknown"],
  ]);
  assert.equal(unknownSources, 1);
  assert.deepEqual(criticalPath, { nodes: [0, 1, 3], ns: 62 * MS });
});

Deno.test("graphs at once have rows of their own; a graph of which a part was seen is none", () => {
  const s = new TestSpans(), other = s.of(200);
  const [whole, second] = [computed(s, diamond), computed(other, diamond.slice(0, 2), 1)];
  const cut = [{ ...s.op("ADD", 50, 60, {}, true), node: diamond[3]! }, s.graph(45, 60, 1, true)];
  const { graphs } = JSON.parse(text(openGraphJson, [...second.slice(0, -1), ...whole, second.at(-1)!, ...cut]));
  assert.deepEqual(graphs.map(({ nodes }: { nodes: unknown[] }) => nodes.length), [4, 2]);
});

Deno.test("a graph takes the operators of its own row, not those of one that goes on beside it", () => {
  const s = new TestSpans(), other = s.of(100, 101);
  const beside = diamond.slice(0, 2).map((node, i) => ({ ...other.op(node.op, 20 + 10 * i, 30 + 10 * i, {}, false, " of graph 2"), node }));
  const { graphs } = JSON.parse(text(openGraphJson, [...beside.slice(0, 1), ...computed(s, diamond), ...beside.slice(1), other.graph(20, 40, 2)]));
  assert.deepEqual(graphs.map(({ nodes }: { nodes: unknown[] }) => nodes.length), [4, 2]);
});

Deno.test("operators of a graph that began before the window do not hide those that follow", () => {
  const s = new TestSpans();
  const tail = { ...s.op("ADD", 0, 5), node: diamond[3]! };
  const { graphs } = JSON.parse(text(openGraphJson, [tail, ...computed(s, diamond, 10), ...computed(s, diamond, 60)]));
  assert.deepEqual(graphs.map(({ times, nodes }: { times: number; nodes: unknown[] }) => [times, nodes.length]), [[2, 4]]);
});

Deno.test("a graph that is built and described again is the same graph", () => {
  const s = new TestSpans();
  const again = diamond.map((node) => ({ ...node, sources: [...node.sources] }));
  const other = again.with(1, { ...again[1]!, shape: "64×16" });
  const rounds = [diamond, other, again, again, other].flatMap((nodes, i) => computed(s, nodes, 100 * i));
  const { graphs } = JSON.parse(text(openGraphJson, rounds));
  assert.deepEqual(graphs.map(({ times }: { times: number }) => times), [3, 2]);
});

Deno.test("more graphs than are kept are counted by how often they were computed", () => {
  const s = new TestSpans();
  const spans = Array.from({ length: 70 }, (_, i) => computed(s, [node(1, "ADD", `x${i}`, weight("w"))], 20 * i)).flat();
  const { graphs, more } = JSON.parse(text(openGraphJson, spans));
  assert.deepEqual([graphs.length, more], [64, 6]);
  assert.match(text(openDot, spans), /^\/\/ .*; 63 other graphs, and more, computed 6 times, that were not kept\n/);
});

Deno.test("dot and Mermaid: the graph that took the most time, its critical path marked, names that are no markup", () => {
  const s = new TestSpans();
  const hostile = node(3, "ROPE", `c"];x-->y\\\n<b>`, from(1, "a"));
  const spans = [...computed(s, diamond.slice(0, 2), 100), ...computed(s, [diamond[0]!, diamond[1]!, hostile, diamond[3]!])];
  const dot = text(openDot, spans);
  assert.match(
    dot,
    /^\/\/ computed 1 times, 36\.0 ms each time, 31\.0 ms of it on the critical path; 1 other graphs; who computes 1 of the sources is not known\ndigraph \{\n/,
  );
  assert.equal(dot.match(/ -> /g)!.length, 7);
  assert.match(dot, /n0 -> n1 \[penwidth=3\]/);
  assert.match(dot, /n0 -> n2\n/);
  assert.ok(dot.includes(String.raw`n2 [label="ROPE\nc\"];x-->y\\�<b>\n64×1\n5.00 ms"]`), dot);
  const mermaid = text(openMermaid, spans);
  assert.equal(mermaid.match(/ --> /g)!.length, 7);
  assert.match(mermaid, /n1\["MUL_MAT<br>b<br>64×1<br>20\.0 ms"\]:::critical\n/);
  assert.match(mermaid, /n2\["ROPE<br>c#34;#93;#59;x--#62;y#92;#65533;#60;b#62;<br>/);
});

Deno.test("Mermaid: a graph beyond what it draws unasked says in the file what it takes, and one within says nothing", () => {
  // Each has two sources.
  const chain = (length: number, name = "x") =>
    Array.from({ length }, (_, i) => node(i + 1, "ADD", `${name}${i + 1}`, i === 0 ? weight("w") : from(i, `${name}${i}`), weight("w")));
  const drawn = (nodes: ReturnType<typeof chain>) => {
    const file = text(openMermaid, computed(new TestSpans(), nodes));
    const said = (setting: string) => Number(file.match(new RegExp(`^%% .*\\b${setting} (\\d+)`, "m"))?.[1] ?? NaN);
    return { edges: file.match(/ --> /g)!.length, length: file.length, maxEdges: said("maxEdges"), maxTextSize: said("maxTextSize"), file };
  };
  const within = drawn(chain(250));
  assert.deepEqual([within.edges, within.file.match(/^%%/gm)!.length], [500, 1]);
  const edges = drawn(chain(251));
  assert.deepEqual([edges.edges, edges.maxEdges, edges.maxTextSize], [502, 502, NaN]);
  const long = drawn(chain(100, "n".repeat(600)));
  assert.ok(long.maxTextSize >= long.length && long.maxTextSize < long.length + 1000, `${long.length}`);
  assert.ok(Number.isNaN(long.maxEdges));
  const both = drawn(chain(1000));
  assert.ok(both.maxTextSize >= both.length && both.maxEdges === both.edges && /\.dot/.test(both.file.split("\n")[0]!), both.file.split("\n")[0]);
  assert.doesNotMatch(text(openDot, computed(new TestSpans(), chain(1000))), /max(Edges|TextSize)/);
});

Deno.test("after a flush the file holds the graphs so far", async () => {
  using folder = temporary();
  const path = folder.file("run.graph.json");
  const exporter = openGraphJson(await openByteSink(path), head);
  const s = new TestSpans();
  const times = () => JSON.parse(Deno.readTextFileSync(path)).graphs.map((graph: { times: number }) => graph.times);
  for (const round of [1, 2, 3]) {
    for (const span of computed(s, diamond, 100 * round)) exporter.span(span);
    exporter.flush();
    assert.deepEqual(times(), [round]);
  }
  exporter.close([]);
  assert.deepEqual(times(), [3]);
});

Deno.test("graphs that are computed again and again are drawn seldom while counting goes on", () => {
  let drawn = 0;
  const exporter = openGraphJson({ write: (_, tail) => void (tail && drawn++), close() {} }, head);
  const s = new TestSpans();
  for (let round = 1; round <= 1009; round++) {
    for (const span of computed(s, diamond, 100 * round)) exporter.span(span);
    exporter.flush();
  }
  assert.ok(drawn > 20 && drawn < 70, `${drawn} times`);
});

Deno.test("without a graph there is a file that says so", () => {
  assert.match(text(openDot, []), /No graph was seen whole/);
  assert.match(text(openMermaid, []), /No graph was seen whole/);
  assert.deepEqual(JSON.parse(text(openGraphJson, [])), { graphs: [], more: 0 });
});

import assert from "node:assert/strict";
import { temporary } from "../harness/temporary.ts";
import { judged, query } from "../judge/trace_processor.ts";
import { runLlmprof } from "./llmprof.ts";

await judged("arrows in the demo's traces are the edges of the graph that is computed for every token", async () => {
  using folder = temporary();
  const [graphs, ...traces] = ["g.graph.json", "t.pftrace", "t.json"].map((name) => folder.file(name)) as [string, string, string];
  const { code, stderr } = await runLlmprof(["demo", ...[graphs, ...traces].flatMap((path) => ["-o", path])]);
  assert.equal(code, 0, stderr);
  const again: Graph[] = JSON.parse(Deno.readTextFileSync(graphs)).graphs.filter(({ times }: { times: number }) => times > 1);
  assert.equal(again.length, 1);
  const nodes = again[0]!.nodes.map(({ op, name }) => `${op} ${name}`);
  const edges = again[0]!.edges.filter(({ from }) => from !== null);
  const drawn = edges.map(({ from, to }) => `${nodes[from!]} > ${nodes[to]}`);
  for (const trace of traces) {
    const arrows = await query(
      trace,
      `select a.track_id as track, ${node("a")} || ' > ' || ${
        node("b")
      } as arrow from flow join slice a on a.id = slice_out join slice b on b.id = slice_in`,
    );
    assert.deepEqual(arrows.map(({ arrow }) => arrow).sort(), [...new Set(drawn)].sort());
    const has = (key: string) => `exists (select 1 from args where args.arg_set_id = slice.arg_set_id and key like '%.${key}')`;
    const slices = await query(
      trace,
      `select dur, ${node("slice")} as node, ${has("critical")} as critical from slice where track_id = ${
        arrows[0]!.track
      } and node is not null order by ts`,
    );
    const critical = slices.filter(({ critical }) => Number(critical) === 1).map(({ node }) => node);
    const matches = [...slices.keys()].filter((at) => nodes.every((name, i) => slices[at + i]?.node === name));
    const firstCritical = slices.findIndex(({ critical }) => Number(critical) === 1);
    const drawnAt = matches.findLastIndex((at) => at <= firstCritical);
    assert.ok(drawnAt > 0, "it was computed before");
    const before = matches[drawnAt - 1]!;
    const path = longest(slices.slice(before, before + nodes.length).map(({ dur }) => Number(dur)), [...edges, ...throughCaches(again[0]!)]);
    assert.deepEqual(critical, path.map((i) => nodes[i]!), "by the times of the computation before the one that is drawn");
  }
});

interface Graph {
  readonly nodes: readonly { readonly op: string; readonly name: string }[];
  readonly edges: readonly { readonly from: number | null; readonly to: number; readonly name: string }[];
}

/** From what writes rows into a cache to who reads that behind it, by llama.cpp's names: `cache_k_l0 (view)`. */
function throughCaches({ nodes, edges }: Graph): Graph["edges"] {
  const cacheOf = (name: string) => /^cache_[kv]_l\d+/.exec(name)?.[0];
  const found = edges.flatMap(({ to, name }) => {
    const from = nodes.slice(0, to).findLastIndex((node) => node.op === "SET_ROWS" && cacheOf(node.name) === cacheOf(name));
    return cacheOf(name) === undefined || from < 0 ? [] : [{ from, to, name }];
  });
  assert.ok(found.length > 0, "attention reads what was written");
  return found;
}

/** An operator, without those that are fused behind it, with its tensor, as SQL; null for what is none. */
function node(slice: string): string {
  const op = `substr(${slice}.name, 1, instr(${slice}.name || ' ', ' ') - 1)`;
  return `${op} || ' ' || (select string_value from args where args.arg_set_id = ${slice}.arg_set_id and key like '%.tensor')`;
}

/** The chain that takes the longest, as indices. */
function longest(ns: readonly number[], edges: Graph["edges"]): number[] {
  const chains: { readonly ns: number; readonly path: readonly number[] }[] = [];
  for (const [to, own] of ns.entries()) {
    const before = edges.filter((edge) => edge.to === to).map(({ from }) => chains[from!]!).reduce((a, b) => b.ns > a.ns ? b : a, {
      ns: 0,
      path: [],
    });
    chains.push({ ns: before.ns + own, path: [...before.path, to] });
  }
  return [...chains.reduce((a, b) => b.ns > a.ns ? b : a).path];
}

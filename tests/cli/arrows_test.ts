import assert from "node:assert/strict";
import { temporary } from "../harness/temporary.ts";
import { judged, query } from "../judge/trace_processor.ts";
import { runLlmprof } from "./llmprof.ts";

await judged("arrows in the demo's traces are the edges of the graph that is computed for every token", async () => {
  using folder = temporary();
  const [graphs, ...traces] = ["g.graph.json", "t.pftrace", "t.json"].map((name) => folder.file(name)) as [string, string, string];
  const { code, stderr } = await runLlmprof(["demo", ...[graphs, ...traces].flatMap((path) => ["-o", path])]);
  assert.equal(code, 0, stderr);
  const again = JSON.parse(Deno.readTextFileSync(graphs)).graphs.filter(({ times }: { times: number }) => times > 1);
  assert.equal(again.length, 1);
  const [{ nodes, edges, criticalPath }] = again;
  const drawn = edges.filter(({ from }: { from: number | null }) => from !== null)
    .map(({ from, to }: Record<"from" | "to", number>) => `${nodes[from].op} ${nodes[from].name} > ${nodes[to].op} ${nodes[to].name}`);
  const tensor = (slice: string) => `(select string_value from args where args.arg_set_id = ${slice}.arg_set_id and key like '%.tensor')`;
  for (const trace of traces) {
    const arrows = await query(
      trace,
      `select a.name || ' ' || ${tensor("a")} || ' > ' || b.name || ' ' || ${tensor("b")} as arrow
      from flow join slice a on a.id = slice_out join slice b on b.id = slice_in`,
    );
    assert.deepEqual(arrows.map(({ arrow }) => arrow).sort(), [...new Set(drawn)].sort());
    const critical = await query(trace, "select count(*) as n from slice join args using (arg_set_id) where key like '%.critical'");
    // By the times of one computation, and not of all.
    assert.ok(Math.abs(Number(critical[0]!.n) - criticalPath.nodes.length) <= 8, `${critical[0]!.n} ${criticalPath.nodes.length}`);
  }
});

import assert from "node:assert/strict";
import { render } from "../../lib/programs/render.ts";
import { Decoding } from "../../tests/harness/decoding.ts";
import { recentDialect } from "../../tests/harness/dialect.ts";
import { graph } from "./graph.ts";
import { sums } from "./sums.ts";

const GRAPH = 1000;
const CALL = 2 ** 40;

function decoding(): Decoding {
  const d = new Decoding(sums, graph);
  d.fact(0, { fact: "table", symbol: "GGML_OP_NAME", file: "libggml-base.so", names: ["NONE", "MUL_MAT", "ADD"] });
  return d;
}

function tensor(d: Decoding, at: number, address: number, op: number, name: string, ne0 = 64): void {
  d.event(at, "ggml/sums.tensor", { address, op, ne0, ne1: 1, ne2: 1, ne3: 1, name });
}

/** A graph of these tensors, an operator every 10 ns, from `at` on. */
function draw(d: Decoding, at: number, tensors: readonly number[], lost?: number): void {
  tensors.forEach((tensor, place) => place === lost || d.event(at + 1 + 10 * place, "ggml/sums.op", { tensor, place }));
  d.event(at + 1 + 10 * tensors.length, "ggml/graph.graph_return");
}

/** Operator, tensor, calls and time: what these tests are about. */
function short(lines: string[]): string[] {
  return lines.filter((line) => line.includes("ggml.sum")).map((line) =>
    line.replace(/^.* ggml\.sum "(.*?)" (\d+)(?: tensor=(\S+))?.* calls=(\d+) ns=(\d+)$/, "$1 $3 at $2: $4 in $5")
  );
}

Deno.test("sums: a row counts its tensor's operators, and has the time of those before them; the graph's own has the last", () => {
  const d = decoding();
  d.event(10, "ggml/graph.drawn", { graph: GRAPH });
  tensor(d, 10, 1, 1, "Qcur-0");
  tensor(d, 11, 2, 2, "l_out-0");
  draw(d, 10, [1, 2]);
  assert.deepEqual(d.told(), [
    '100 <worker 0> ggml.op "MUL_MAT" 11–21 tensor=Qcur-0 shape=64×1 layer=0 worker=0',
    '100 <worker 0> ggml.op "ADD" 21–31 tensor=l_out-0 shape=64×1 layer=0 worker=0',
  ]);
  d.event(100, "ggml/graph.drawn", { graph: GRAPH, calls: 7, ns: 70 });
  d.event(101, "ggml/sums.sum", { tensor: 1, calls: 7, ns: 14 });
  d.event(102, "ggml/sums.sum", { tensor: 2, calls: 7, ns: 350 });
  draw(d, 100, [1, 2]);
  d.told();
  // The window was shut in the last operator of the third that was summed then; its rows were printed twice.
  for (const at of [190, 195]) {
    d.snapshot(at, "ggml/sums.sums", [100, 1], 3 * CALL + 6);
    d.snapshot(at, "ggml/sums.sums", [100, 2], 3 * CALL + 150);
    d.snapshot(at, "ggml/sums.sums", [100, GRAPH], 2 * CALL + 20);
  }
  assert.deepEqual(short(d.end(200)), ["MUL_MAT Qcur-0 at 200: 10 in 500", "ADD l_out-0 at 200: 10 in 90"]);
  assert.deepEqual(d.end(300), []);
});

Deno.test("sums: what something else takes the place of is told then, and what is left of it at the end", () => {
  const d = decoding();
  d.event(10, "ggml/graph.drawn", { graph: GRAPH });
  tensor(d, 10, 1, 1, "kq-0");
  tensor(d, 11, 2, 2, "l_out-0");
  draw(d, 10, [1, 2]);
  d.event(100, "ggml/graph.drawn", { graph: GRAPH, calls: 5, ns: 50 });
  d.event(101, "ggml/sums.sum", { tensor: 1, calls: 5, ns: 10 });
  tensor(d, 101, 1, 1, "kq-0", 96);
  d.told();
  // The second tensor is not in this graph: its row waits.
  draw(d, 100, [1]);
  assert.deepEqual(short(d.told()), ["MUL_MAT kq-0 at 111: 5 in 0"]);
  d.snapshot(190, "ggml/sums.sums", [100, 2], 5 * CALL + 250);
  assert.deepEqual(short(d.end(200)), ["ADD l_out-0 at 200: 5 in 50", "MUL_MAT kq-0 at 200: 0 in 250"]);
});

Deno.test("sums: of a graph that lost a record on its way nobody knows the order; what it sums is told without a name", () => {
  const d = decoding();
  d.event(10, "ggml/graph.drawn", { graph: GRAPH });
  tensor(d, 10, 1, 1, "Qcur-0");
  tensor(d, 11, 2, 2, "l_out-0");
  draw(d, 10, [1, 2], 0);
  d.snapshot(190, "ggml/sums.sums", [100, 1], 3 * CALL + 6);
  d.snapshot(190, "ggml/sums.sums", [100, 2], 3 * CALL + 150);
  assert.deepEqual(short(d.end(200)), ["unknown operator  at 200: 6 in 156"]);
});

Deno.test("sums: what is kept of a process is told and forgotten as it ends, by a program that can walk through it", () => {
  const exits = (walksMaps: boolean) => {
    const plan = { stream: "ggml", probes: [graph, sums], filter: { type: "tree", pids: [42] }, window: "signalled" } as const;
    const { text, sites } = render(plan, { ...recentDialect, walksMaps }, () => [`uprobe:"/lib":"f"`]);
    const [block] = /^tracepoint:sched:sched_process_exit \/@w && [^]*?delete\(@described.*$/m.exec(text) ?? [null];
    return { block, records: sites.find(({ attach }) => attach.endsWith("sched_process_exit"))?.records };
  };
  const { block, records } = exits(true);
  for (const part of ["for ($row : @sums)", "delete(@sums[$of, $t])", "for ($row : @known)", "delete(@described[pid])"]) {
    assert.ok(block?.includes(part), part);
  }
  assert.deepEqual(records, [], "what it tells of is no number of its hits");
  assert.deepEqual(exits(false), { block: null, records: undefined });
});

import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { barrier } from "./barrier.ts";
import { counters } from "./counters.ts";
import { graph } from "./graph.ts";
import { ops } from "./ops.ts";

/** As addresses of pools are: multiples of 16. */
const POOL = 140432144700864, OTHER_POOL = POOL + 16;

/** A decoder that knows two operators and, for process 100, tensors 1 and 2. */
function decoding(): Decoding {
  const d = new Decoding(ops, graph);
  d.fact(0, { fact: "table", symbol: "GGML_OP_NAME", file: "libggml-base.so", names: ["NONE", "MUL_MAT", "ADD"] });
  tensor(d, 1, 1, "Qcur-0");
  tensor(d, 2, 2, "l_out-3");
  return d;
}

function tensor(d: Decoding, address: number, op: number, name: string, who = "100"): void {
  d.event(1, "ggml/ops.tensor", { address, op, ne0: 64, ne1: 1, ne2: 1, ne3: 1, name }, who);
}

function begin(d: Decoding, at: number, who = "100"): void {
  d.event(at, "ggml/graph.graph", { nodes: 2, threads: 2 }, who);
}

function op(d: Decoding, at: number, worker: number, address: number, who = "100", pool = POOL): void {
  d.event(at, "ggml/ops.worker", { worker: 32 * pool + worker }, who);
  d.event(at, "ggml/ops.op", { tensor: address }, who);
}

function returns(d: Decoding, at: number, who = "100"): void {
  d.event(at, "ggml/graph.graph_return", {}, who);
}

/** Row, operator and times are what these tests are about. */
function short(lines: string[]): string[] {
  return lines.map((line) => line.replace(/^(\d+) <(.*)> ggml\.op "(.*?)" (\S+(?: \(open\))?).*$/, "$2: $3 $4"));
}

Deno.test("ops: an operator lasts until its worker starts the next one, the last until the graph ends", () => {
  const d = decoding();
  begin(d, 10);
  op(d, 11, 0, 1);
  op(d, 20, 0, 2);
  returns(d, 30);
  assert.deepEqual(d.end(40), [
    '100 <worker 0> ggml.op "MUL_MAT" 11–20 tensor=Qcur-0 shape=64×1 layer=0 worker=0',
    '100 <worker 0> ggml.op "ADD" 20–30 tensor=l_out-3 shape=64×1 layer=3 worker=0',
  ]);
});

Deno.test("ops: those that follow one another are told together, after 20 ms at most, at a heartbeat, and before anything else is told of their row", () => {
  const MS = 1e6;
  const d = new Decoding(ops, graph, counters(1000));
  /** Whether it is a chain, and how many operators came. */
  const told = () => d.spans.splice(0).map(({ type, ...span }) => `${type} ${"links" in span ? span.links.length : 1}`);
  begin(d, 0);
  for (let i = 0; i < 5; i++) op(d, i * MS, 0, 1 + i % 2);
  assert.deepEqual(told(), []);
  // The fourth has ended, the fifth has not.
  d.beat();
  assert.deepEqual(told(), ["chain 4"]);
  op(d, 10 * MS, 0, 1);
  op(d, 24 * MS, 0, 2);
  assert.deepEqual(told(), []);
  op(d, 25 * MS, 0, 1);
  assert.deepEqual(told(), ["chain 3"]);
  op(d, 26 * MS, 0, 2);
  d.event(27 * MS, "ggml/counters.cycles", { count: 1 });
  assert.deepEqual(told(), ["slice 1", "instant 1", "counter 1"]);
  returns(d, 30 * MS);
  assert.deepEqual(told(), ["slice 1"]);
});

Deno.test("ops: a graph of very many operators is told in parts", () => {
  const d = decoding();
  begin(d, 10);
  for (let i = 0; i < 600; i++) op(d, 11 + i, 0, 1 + i % 2);
  returns(d, 700);
  assert.deepEqual(d.spans.map((span) => span.type === "chain" && [span.links.length, span.times[0], span.times.at(-1)]), [
    [256, 11, 267],
    [256, 267, 523],
    [88, 523, 700],
  ]);
});

Deno.test("ops: a worker is its index in the pool, on whatever thread it runs in this graph", () => {
  const d = decoding();
  for (const [at, thread] of [[10, "100/101"], [50, "100/102"]] as const) {
    begin(d, at);
    op(d, at + 1, 0, 1);
    op(d, at + 2, 1, 1, thread);
    op(d, at + 10, 1, 2, thread);
    op(d, at + 11, 0, 2);
    returns(d, at + 20);
  }
  assert.deepEqual(short(d.end(90)), [
    "worker 0: MUL_MAT 11–21",
    "worker 0: ADD 21–30",
    "worker 1: MUL_MAT 12–20",
    "worker 1: ADD 20–30",
    "worker 0: MUL_MAT 51–61",
    "worker 0: ADD 61–70",
    "worker 1: MUL_MAT 52–60",
    "worker 1: ADD 60–70",
  ]);
});

Deno.test("ops: graphs that run at once get rows of their own, and their workers are told apart by the pool", () => {
  const d = decoding();
  begin(d, 10, "100/100");
  op(d, 11, 0, 1, "100/100", POOL);
  begin(d, 12, "100/105");
  op(d, 13, 0, 1, "100/105", OTHER_POOL);
  op(d, 14, 1, 2, "100/106", OTHER_POOL);
  op(d, 15, 1, 2, "100/101", POOL);
  returns(d, 20, "100/100");
  returns(d, 30, "100/105");
  begin(d, 40, "100/105");
  op(d, 41, 0, 1, "100/105", OTHER_POOL);
  returns(d, 50, "100/105");
  assert.deepEqual(short(d.end(90)), [
    "worker 0: MUL_MAT 11–20",
    "worker 1: ADD 15–20",
    "worker 0 of graph 2: MUL_MAT 13–30",
    "worker 1 of graph 2: ADD 14–30",
    "worker 0: MUL_MAT 41–50",
  ]);
});

Deno.test("ops: a worker that is faster than worker 0 belongs to the graph whose pool is not known yet", () => {
  const d = decoding();
  begin(d, 10);
  op(d, 11, 1, 1, "100/101");
  op(d, 12, 0, 1);
  returns(d, 20);
  assert.deepEqual(short(d.end(90)), ["worker 1: MUL_MAT 11–20", "worker 0: MUL_MAT 12–20"]);
});

Deno.test("ops: a thread tells once in a graph which worker it is; one that has not told since is nobody", () => {
  const d = decoding();
  begin(d, 10);
  op(d, 11, 0, 1);
  d.event(15, "ggml/ops.op", { tensor: 2 }, "100");
  returns(d, 20);
  begin(d, 30);
  d.event(31, "ggml/ops.op", { tensor: 1 }, "100");
  returns(d, 40);
  assert.deepEqual(short(d.end(50)), ["worker 0: MUL_MAT 11–15", "worker 0: ADD 15–20"]);
});

Deno.test("ops: where one tensor cannot be what it says, none of the process has a name, and it is said once", () => {
  const d = decoding();
  begin(d, 10);
  op(d, 11, 0, 1);
  d.event(12, "ggml/ops.tensor", { address: 3, op: 4096, ne0: 64, ne1: 1, ne2: 1, ne3: 1, name: "" });
  op(d, 12, 0, 3);
  tensor(d, 4, 1, "Qcur-0");
  op(d, 15, 0, 4);
  d.event(16, "ggml/ops.tensor", { address: 5, op: -1 });
  returns(d, 20);
  const [note, ...slices] = d.end(90);
  assert.match(
    note!,
    /^mark note 12 .*process 100: this build of ggml lays out its tensors as none that llmprof knows.* have no names; --detail sample tells operators by their/,
  );
  assert.deepEqual(short(slices), [
    "worker 0: unknown operator 11–12",
    "worker 0: unknown operator 12–15",
    "worker 0: unknown operator 15–20",
  ]);
});

Deno.test("ops: a tensor whose memory could not be read has no name, and the others keep theirs", () => {
  const d = decoding();
  begin(d, 10);
  d.event(11, "ggml/ops.tensor", { address: 1 });
  op(d, 11, 0, 1);
  op(d, 12, 0, 2);
  returns(d, 20);
  assert.deepEqual(short(d.end(90)), ["worker 0: unknown operator 11–12", "worker 0: ADD 12–20"]);
});

Deno.test("ops: processes have graphs, rows and tensors of their own", () => {
  const d = decoding();
  tensor(d, 1, 2, "other-1", "200");
  begin(d, 10);
  begin(d, 10, "200");
  op(d, 11, 0, 1);
  op(d, 12, 0, 1, "200");
  op(d, 13, 1, 1, "200/201");
  returns(d, 20, "200");
  returns(d, 21);
  assert.deepEqual(d.end(90).map((line) => line.replace(/ shape.*/, "")), [
    '200 <worker 0> ggml.op "ADD" 12–20 tensor=other-1',
    '200 <worker 1> ggml.op "ADD" 13–20 tensor=other-1',
    '100 <worker 0> ggml.op "MUL_MAT" 11–21 tensor=Qcur-0',
  ]);
});

Deno.test("ops: what began before the window, and what never ends, is drawn as far as it was seen", () => {
  const d = decoding();
  op(d, 5, 0, 1);
  op(d, 6, 0, 2);
  returns(d, 8);
  begin(d, 10);
  op(d, 11, 0, 1);
  assert.deepEqual(short(d.end(15)), ["worker 0: MUL_MAT 5–6", "worker 0: ADD 6–8", "worker 0: MUL_MAT 11–15 (open)"]);
});

Deno.test("ops: a graph whose end was lost is closed by the next one and marked open; an end alone is nothing", () => {
  const d = decoding();
  begin(d, 10);
  op(d, 11, 0, 1);
  begin(d, 20);
  op(d, 21, 0, 2);
  returns(d, 30);
  returns(d, 31);
  assert.deepEqual(short(d.end(40)), ["worker 0: MUL_MAT 11–20 (open)", "worker 0: ADD 21–30"]);
});

Deno.test("ops: an address means what was last said of it, when the operator ends too", () => {
  const d = decoding();
  begin(d, 10);
  op(d, 11, 0, 1);
  op(d, 12, 0, 9);
  returns(d, 20);
  tensor(d, 1, 2, "later-7");
  begin(d, 30);
  op(d, 31, 0, 1);
  returns(d, 40);
  assert.deepEqual(d.end(50), [
    '100 <worker 0> ggml.op "MUL_MAT" 11–12 tensor=Qcur-0 shape=64×1 layer=0 worker=0',
    '100 <worker 0> ggml.op "unknown operator" 12–20 worker=0',
    '100 <worker 0> ggml.op "ADD" 31–40 tensor=later-7 shape=64×1 layer=7 worker=0',
  ]);
});

Deno.test("ops: sources that were described before a tensor say what computing it asks", () => {
  const d = decoding();
  d.event(2, "ggml/ops.source", {
    index: 0,
    root: 8,
    behind: 0,
    further: 0,
    root_op: 0,
    type: 2,
    ne0: 32,
    ne1: 64,
    ne2: 1,
    ne3: 1,
    name: "blk.0.attn_q.weight",
  });
  // A view of what the graph has computed.
  d.event(2, "ggml/ops.source", {
    index: 1,
    root: 2,
    behind: 0,
    further: 0,
    root_op: 2,
    type: 0,
    ne0: 32,
    ne1: 1,
    ne2: 1,
    ne3: 1,
    name: "attn_norm-0",
  });
  tensor(d, 1, 1, "Qcur-0");
  // The sources belong to nobody else.
  tensor(d, 2, 2, "l_out-3");
  begin(d, 10);
  op(d, 11, 0, 1);
  op(d, 20, 0, 2);
  returns(d, 30);
  assert.deepEqual(d.end(40), [
    '100 <worker 0> ggml.op "MUL_MAT" 11–20 tensor=Qcur-0 shape=64×1 layer=0 worker=0 bytes=1536 cold=1152 flops=4096 quantised=true',
    '100 <worker 0> ggml.op "ADD" 20–30 tensor=l_out-3 shape=64×1 layer=3 worker=0',
  ]);
});

Deno.test("ops: where sources cannot be a product's, or a view shows another view, none of the process has a name", () => {
  const source = (d: Decoding, index: number, ne0: number, ne1: number, root_op = 0) =>
    d.event(2, "ggml/ops.source", { index, root: 8, root_op, type: 2, ne0, ne1, ne2: 1, ne3: 1, name: "blk.0.attn_q.weight" });
  const named = (describe: (d: Decoding) => void) => {
    const d = decoding();
    d.fact(1, { fact: "table", symbol: "GGML_OP_NAME", file: "libggml-base.so", names: ["NONE", "MUL_MAT", "ADD", "RESHAPE"] });
    begin(d, 10);
    describe(d);
    tensor(d, 1, 1, "Qcur-0");
    op(d, 11, 0, 1);
    returns(d, 20);
    const told = d.end(30), notes = told.filter((line) => /lays out its tensors as none/.test(line));
    return [notes.length, told.some((line) => line.includes("Qcur-0"))];
  };
  const good = [0, true], strange = [1, false];
  // A matrix of 32×64, a vector of 32.
  assert.deepEqual(named((d) => [source(d, 0, 32, 64), source(d, 1, 32, 1)]), good);
  // A product had its sizes before: of this one's records some were lost, and with its vector came the matrix of another one.
  const fitting = (d: Decoding) => [source(d, 0, 32, 64), source(d, 1, 32, 1), tensor(d, 2, 1, "Kcur-0")];
  assert.deepEqual(named((d) => [fitting(d), source(d, 0, 48, 64), source(d, 1, 32, 1)]), good);
  // A view of what the graph has computed; one of the two was lost.
  assert.deepEqual(named((d) => source(d, 1, 32, 1, 2)), good);
  // Sources begin a place later than they were looked for, and a place sooner.
  assert.deepEqual(named((d) => [source(d, 1, 32, 64), source(d, 2, 32, 1)]), strange);
  assert.deepEqual(named((d) => source(d, 0, 32, 1)), strange);
  // The matrix takes longer vectors; the view shows another one, or no operator's result at all.
  assert.deepEqual(named((d) => [source(d, 0, 48, 64), source(d, 1, 32, 1)]), strange);
  assert.deepEqual(named((d) => source(d, 1, 32, 1, 3)), strange);
  assert.deepEqual(named((d) => source(d, 1, 32, 1, 4096)), strange);
});

Deno.test("ops: a source at a place where no tensor has one is nobody's", () => {
  const d = decoding();
  for (const index of [-1, 1 - 2 ** 40, 1]) {
    d.event(2, "ggml/ops.source", { index, root: 8, root_op: 0, type: 0, ne0: 1, ne1: 1, ne2: 1, ne3: 1, name: "a.weight" });
  }
  tensor(d, 1, 1, "Qcur-0");
  begin(d, 10);
  op(d, 11, 0, 1);
  returns(d, 30);
  const [told] = d.ending(40).flatMap((span) => span.type === "slice" ? span.node ?? [] : []);
  assert.equal(told!.sources.length, 2);
});

Deno.test("ops: a node says which tensor's memory it writes into, unless it shows that, and of a source where it is and whose memory it has", () => {
  const d = new Decoding(ops, graph);
  d.fact(0, { fact: "table", symbol: "GGML_OP_NAME", file: "libggml-base.so", names: ["NONE", "MUL_MAT", "CLAMP", "VIEW"] });
  const [place, address] = [1, 0x7fff_ffff_fff0];
  d.event(2, "ggml/ops.source", { index: place + 16 * address, root: 1, root_op: 1, type: 0, ne0: 64, ne1: 1, ne2: 1, ne3: 1, name: "sum" });
  d.event(2, "ggml/ops.into", { root: 1 });
  tensor(d, 2, 2, "bounded");
  d.event(3, "ggml/ops.into", { root: 1 });
  tensor(d, 3, 3, "shown");
  tensor(d, 4, 1, "product");
  begin(d, 10);
  for (const [i, of] of [2, 3, 4].entries()) op(d, 11 + i, 0, of);
  returns(d, 30);
  const nodes = d.ending(40).flatMap((span) => span.type === "slice" ? span.node ?? [] : []);
  assert.deepEqual(nodes.map(({ name, into }) => [name, into]), [["bounded", 1], ["shown", undefined], ["product", undefined]]);
  assert.deepEqual(nodes.map(({ sources }) => sources.length), [2, 0, 0]);
  const { address: told, root } = nodes[0]!.sources[place]!;
  assert.deepEqual([told, root], [address, 1]);
});

Deno.test("ops: in a recording that does not say whose memory a node has it is what it names, if it is an operator that does so", () => {
  const d = new Decoding(ops, graph);
  d.fact(0, { fact: "table", symbol: "GGML_OP_NAME", file: "libggml-base.so", names: ["NONE", "CPY", "SET_ROWS", "ADD", "CLAMP"] });
  const intoOf = (index: number, number: number) => {
    for (const place of [0, 1, 2]) {
      d.event(2, "ggml/ops.source", { index: index + place, root: 70 + place, type: 0, ne0: 64, ne1: 1, ne2: 1, ne3: 1, name: "x" });
    }
    tensor(d, 1, number, "y");
    begin(d, 10);
    op(d, 11, 0, 1);
    returns(d, 12);
    const [node] = d.ending(12).flatMap((span) => span.type === "slice" ? span.node ?? [] : []);
    return node!.into;
  };
  assert.deepEqual([1, 2, 3, 4].map((number) => intoOf(0, number)), [71, 72, undefined, 70]);
  // Where each source says where it is, each node would say that.
  assert.deepEqual([1, 2, 3, 4].map((number) => intoOf(16 * 4096, number)), [undefined, undefined, undefined, undefined]);
});

/** A tensor that is computed from another one, by what is `behind` that, which is computed from `further`. Operators: 1 MUL_MAT, 2 ADD, 3 RMS_NORM, 4 MUL. */
function computed(
  d: Decoding,
  address: number,
  op: number,
  name: string,
  source?: { readonly root: number; readonly behind?: number; readonly further?: number },
): void {
  if (source) {
    const { root, behind = 0, further = 0 } = source;
    const [root_op, behind_op] = behind === 0 ? [2, 0] as const : [4, 3] as const;
    d.event(1, "ggml/ops.source", { index: 0, root, behind, further, root_op, behind_op, type: 0, ne0: 64, ne1: 64, ne2: 1, ne3: 1, name: "norm-1" });
  }
  tensor(d, address, op, name);
}

function fusing(): Decoding {
  const d = new Decoding(ops, graph);
  d.fact(0, { fact: "table", symbol: "GGML_OP_NAME", file: "libggml-base.so", names: ["NONE", "MUL_MAT", "ADD", "RMS_NORM", "MUL"] });
  return d;
}

/** Without times. */
function names(lines: string[]): string[] {
  return lines.map((line) => line.replace(/^.*"(.*)" \S+ tensor=(\S+).*?( fused=\S+)?( bytes=.*)?$/, "$1: $2$3"));
}

Deno.test("ops: layers of an encoder and of a decoder are told apart by their weights, with the norms that come before these and what comes behind", () => {
  const d = fusing();
  const source = (index: number, root: number, root_op: number, name: string) =>
    d.event(1, "ggml/ops.source", { index, root, behind: 0, further: 0, root_op, behind_op: 0, type: 0, ne0: 64, ne1: 1, ne2: 1, ne3: 1, name });
  for (const [at, weight] of [[10, "enc.blk.0.attn_norm.weight"], [20, "dec.blk.0.attn_norm.weight"], [30, "blk.0.attn_norm.weight"]] as const) {
    begin(d, at);
    source(0, 9, 2, "inp_embd");
    tensor(d, 1, 3, "norm-0");
    op(d, at + 1, 0, 1);
    source(0, 1, 3, "norm-0");
    source(1, 8, 0, weight);
    tensor(d, 2, 4, "attn_norm-0");
    op(d, at + 2, 0, 2);
    source(0, 2, 4, "attn_norm-0");
    tensor(d, 3, 2, "l_out-0");
    op(d, at + 3, 0, 3);
    returns(d, at + 9);
  }
  const stacks = d.end(40).map((line) => / stack=(\w+)/.exec(line)?.[1]);
  assert.deepEqual(stacks, ["enc", "enc", "enc", "dec", "dec", "dec", undefined, undefined, undefined]);
});

Deno.test("ops: nodes that were fused are named where their time is, in every graph, and claimed by one operator alone", () => {
  const d = fusing();
  for (const at of [10, 110]) {
    begin(d, at);
    if (at === 10) computed(d, 1, 2, "l_out-0");
    op(d, at + 1, 0, 1);
    if (at === 10) computed(d, 5, 1, "Qcur-1", { root: 4, behind: 3, further: 1 });
    op(d, at + 2, 0, 5);
    if (at === 10) computed(d, 6, 1, "Kcur-1", { root: 4, behind: 3, further: 1 });
    op(d, at + 3, 0, 6);
    op(d, at + 3, 1, 1, "100/101");
    op(d, at + 4, 1, 5, "100/101");
    returns(d, at + 9);
  }
  const worker0 = ["ADD + RMS_NORM + MUL: l_out-0 fused=norm-1", "MUL_MAT: Qcur-1", "MUL_MAT: Kcur-1"];
  const worker1 = ["ADD + RMS_NORM + MUL: l_out-0 fused=norm-1", "MUL_MAT: Qcur-1"];
  assert.deepEqual(names(d.end(300)), [...worker0, ...worker1, ...worker0, ...worker1]);
});

Deno.test("ops: what another device or another graph has computed was fused with nothing", () => {
  const d = fusing();
  begin(d, 10);
  computed(d, 1, 2, "l_out-0");
  op(d, 11, 0, 1);
  // Nothing of it was seen.
  computed(d, 5, 1, "Qcur-1", { root: 4, behind: 3, further: 99 });
  op(d, 12, 0, 5);
  returns(d, 19);
  begin(d, 20);
  // It was seen, in the graph before.
  computed(d, 7, 1, "Kcur-1", { root: 1 });
  op(d, 21, 0, 7);
  // A norm that was seen, though its product was not.
  computed(d, 3, 3, "norm-2");
  op(d, 22, 0, 3);
  computed(d, 8, 1, "Vcur-1", { root: 4, behind: 3, further: 1 });
  op(d, 23, 0, 8);
  returns(d, 29);
  assert.deepEqual(names(d.end(40)), ["ADD: l_out-0", "MUL_MAT: Qcur-1", "MUL_MAT: Kcur-1", "RMS_NORM: norm-2", "MUL_MAT: Vcur-1"]);
});

Deno.test("ops: what was fused before a source that is computed later was in a slice before that, which is not named", () => {
  const d = fusing();
  begin(d, 10);
  computed(d, 1, 2, "l_out-0");
  op(d, 11, 0, 1);
  // Behind the norm, which is in the slice before.
  computed(d, 2, 2, "gate-1", { root: 1 });
  op(d, 12, 0, 2);
  const gate = { index: 1, root: 2, root_op: 2, type: 0, ne0: 64, ne1: 1, ne2: 1, ne3: 1, name: "gate-1" };
  d.event(13, "ggml/ops.source", gate);
  computed(d, 5, 1, "gated-1", { root: 4, behind: 3, further: 1 });
  op(d, 13, 0, 5);
  returns(d, 19);
  assert.deepEqual(names(d.end(40)), ["ADD: l_out-0", "ADD: gate-1", "MUL_MAT: gated-1"]);
});

Deno.test("ops: of a graph that was seen from its middle nothing is said to be fused", () => {
  const d = fusing();
  computed(d, 1, 2, "l_out-0");
  op(d, 11, 0, 1);
  computed(d, 5, 1, "Qcur-1", { root: 4, behind: 3, further: 1 });
  op(d, 12, 0, 5);
  returns(d, 19);
  assert.deepEqual(names(d.end(40)), ["ADD: l_out-0", "MUL_MAT: Qcur-1"]);
});

/** Waits, of all that is told. */
function waits(lines: string[]): string[] {
  return lines.filter((line) => line.includes("ggml.wait")).map((line) => line.replace(/^\d+ <(.*)> ggml\.wait "wait" (\S+).*$/, "$1: $2"));
}

Deno.test("ops: who comes to a barrier waits for the last to come, at each of an operator in turn", () => {
  const d = new Decoding(ops, graph, barrier);
  const comes = (at: number, who: string) => d.event(at, "ggml/barrier.barrier", {}, who);
  begin(d, 10);
  op(d, 11, 0, 1);
  op(d, 12, 1, 1, "100/101");
  // One inside of the operator, which worker 0 reaches first, and one behind it, which it reaches last.
  comes(13, "100");
  comes(16, "100/101");
  comes(20, "100/101");
  comes(25, "100");
  // The next may come before the last one of this has been told.
  op(d, 26, 1, 2, "100/101");
  comes(27, "100/101");
  op(d, 28, 0, 2);
  comes(29, "100");
  returns(d, 30);
  assert.deepEqual(waits(d.end(40)), ["worker 0: 13–16", "worker 1: 20–25", "worker 1: 27–29"]);
});

Deno.test("ops: where fewer workers come than a graph was given these are all; one that was seen from the middle waits for nobody", () => {
  const d = new Decoding(ops, graph, barrier);
  const comes = (at: number, who: string) => d.event(at, "ggml/barrier.barrier", {}, who);
  comes(5, "100");
  d.event(10, "ggml/graph.graph", { nodes: 2, threads: 4 }, "100");
  op(d, 11, 0, 1);
  op(d, 11, 1, 1, "100/101");
  comes(13, "100");
  comes(16, "100/101");
  comes(17, "100/101");
  returns(d, 30);
  comes(31, "100");
  assert.deepEqual(waits(d.end(40)), ["worker 0: 13–16"]);
});

Deno.test("ops: without a table of names operators go by number; another table is none of ggml's", () => {
  const d = new Decoding(ops, graph);
  d.fact(0, { fact: "table", symbol: "OTHER", file: "x", names: ["A", "B", "C"] });
  tensor(d, 1, 2, "x");
  op(d, 5, 0, 1);
  assert.match(d.end(9)[0]!, /ggml\.op "op 2" 5–9 \(open\)/);
});

Deno.test("counters: what a thread computes when its counter tells, and sums of the process", () => {
  const d = new Decoding(ops, graph, counters(1000));
  d.fact(0, { fact: "table", symbol: "GGML_OP_NAME", file: "libggml-base.so", names: ["NONE", "MUL_MAT", "ADD"] });
  tensor(d, 1, 1, "Qcur-0");
  d.event(9, "ggml/counters.cycles", { count: 1000 });
  begin(d, 10);
  op(d, 11, 0, 1);
  d.event(12, "ggml/counters.cycles", { count: 1000 });
  d.event(13, "ggml/counters.misses", { count: 10 });
  returns(d, 20);
  assert.deepEqual(d.told().filter((line) => !/ggml\.(op|graph)/.test(line)), [
    '100/100 ggml.counted "cycles" 9 count=1000',
    "100 <cycles> = 1000 at 9",
    '100 <worker 0> ggml.counted "cycles" 12 count=1000 operator=MUL_MAT tensor=Qcur-0',
    "100 <cycles> = 2000 at 12",
    '100 <worker 0> ggml.counted "cache misses" 13 count=10 operator=MUL_MAT tensor=Qcur-0',
    "100 <cache misses> = 10 at 13",
  ]);
});

Deno.test("counters: instructions per cycle of an operator until now, once both have been told of it", () => {
  const d = new Decoding(ops, graph, counters(1000));
  d.fact(0, { fact: "table", symbol: "GGML_OP_NAME", file: "libggml-base.so", names: ["NONE", "MUL_MAT", "ADD"] });
  tensor(d, 1, 1, "Qcur-0");
  tensor(d, 2, 2, "l_out-0");
  begin(d, 10);
  let at = 11;
  const counts = (...records: string[]) => records.forEach((record) => d.event(at++, `ggml/counters.${record}`, { count: 1000 }));
  op(d, at++, 0, 1);
  counts("cycles", "instructions", "cycles", "cycles", "misses");
  op(d, at++, 0, 2);
  counts("cycles", "misses", "instructions", "instructions");
  returns(d, at++);
  // Outside of every operator.
  counts("instructions", "cycles");
  const told = d.told().filter((line) => line.includes("ggml.counted"));
  assert.deepEqual(told.map((line) => line.replace(/^.*ggml\.counted "(.*)" \d+ count=1000( operator=)?(\w*)( tensor=\S+)?/, "$1 $3")), [
    "cycles MUL_MAT",
    "instructions MUL_MAT ipc=1",
    "cycles MUL_MAT ipc=0.5",
    "cycles MUL_MAT ipc=0.33",
    "cache misses MUL_MAT ipc=0.33",
    "cycles ADD",
    "cache misses ADD",
    "instructions ADD ipc=1",
    "instructions ADD ipc=2",
    "instructions ",
    "cycles  ipc=1",
  ]);
});

import assert from "node:assert/strict";
import type { ExpertChoice, GraphNode, Instant, Slice } from "../events/span.ts";
import { Tracks } from "../events/tracks.ts";
import { ExpertLedger } from "./expert_ledger.ts";
import { presentExperts } from "./experts_present.ts";
import { StoppedTimes } from "./stopped.ts";

const track = new Tracks().lane(100, "worker 0", 10);
const node: GraphNode = { address: 1, op: "MUL_MAT_ID", name: "ffn_moe_gate-0", shape: "64×2", layer: 0, sources: [] };

function choice(at: number, chosen: Record<number, number>, more: Partial<ExpertChoice> = {}): Instant {
  const told = {
    layer: 0,
    experts: 4,
    used: 1,
    tokens: 1,
    chosen: new Map(Object.entries(chosen).map(([e, n]) => [Number(e), n])),
    unread: 0,
    ...more,
  };
  return { type: "instant", track, name: "experts", category: "ggml.experts", at, choice: told };
}

function product(start: number, end: number, more: Partial<Slice> = {}): Slice {
  return { type: "slice", track, name: "MUL_MAT_ID", category: "ggml.op", start, end, node, ...more };
}

Deno.test("experts: counts, unevenness, and the time of products by tokens", () => {
  const ledger = new ExpertLedger(new StoppedTimes());
  // A batch of ten tokens, then one of one; the products of a layer follow its choice.
  ledger.choice(choice(0, { 0: 9, 2: 1 }, { tokens: 10 }));
  for (const [start, end] of [[0, 60], [70, 110]] as const) ledger.product(product(start, end));
  // Workers other than 0 do the same work beside it, and what never ended has no time.
  ledger.product(product(0, 60, { node: undefined }));
  ledger.product(product(120, 130, { open: true }));
  ledger.choice(choice(200, { 3: 1 }));
  ledger.product(product(200, 230));
  const [layer, ...others] = ledger.result()!;
  assert.equal(others.length, 0);
  const { counts, tokens, used, hot, productsNs, estimatedNs, variation } = layer!;
  assert.deepEqual({ counts, tokens, used, hot, productsNs }, { counts: [9, 0, 1, 1], tokens: 11, used: 1, hot: 2, productsNs: 130 });
  assert.deepEqual(estimatedNs, [90, 0, 10, 30]);
  // Deviations from 2.75 are 6.25, -2.75, -1.75 and -1.75: √(52.75 / 4) / 2.75.
  assert.ok(Math.abs(variation - 1.3205) < 1e-4, String(variation));
});

Deno.test("experts: how many a token goes to is what most tokens do, whatever one that warms up did", () => {
  const ledger = new ExpertLedger(new StoppedTimes());
  ledger.choice(choice(0, { 0: 1, 1: 1, 2: 1, 3: 1 }, { used: 4 }));
  ledger.choice(choice(100, { 0: 2, 1: 1, 2: 1 }, { used: 2, tokens: 2 }));
  assert.deepEqual(ledger.result()!.map(({ used, tokens }) => [used, tokens]), [[2, 3]]);
});

Deno.test("experts: the error of an estimate is that of as many choices as the expert had", () => {
  const ledger = new ExpertLedger(new StoppedTimes());
  for (const [i, ns] of [10, 20, 30].entries()) {
    ledger.choice(choice(i * 100, { [i === 2 ? 1 : 0]: 1 }));
    ledger.product(product(i * 100, i * 100 + ns));
  }
  const { errorNs, estimatedNs } = ledger.result()![0]!;
  assert.deepEqual(estimatedNs, [30, 30, 0, 0]);
  // The deviation of 10, 20 and 30 is 10.
  assert.deepEqual(errorNs.map((ns) => Math.round(ns * 10) / 10), [27.7, 19.6, 0, 0]);
});

Deno.test("experts: what was not read is in no count, and its time is spread over what was", () => {
  const ledger = new ExpertLedger(new StoppedTimes());
  ledger.choice(choice(0, { 1: 2 }, { tokens: 4, unread: 2 }));
  ledger.product(product(0, 80));
  const layers = ledger.result()!;
  const { counts, unread, estimatedNs, productsNs } = layers[0]!;
  assert.deepEqual({ counts, unread, estimatedNs, productsNs }, { counts: [0, 2, 0, 0], unread: 2, estimatedNs: [0, 80, 0, 0], productsNs: 80 });
  const [table] = presentExperts({ experts: { layers, routerNs: 0, gatherNs: 0 } });
  assert.equal(table!.type === "table" && table!.rows[0]!.at(-1), 20, "what a choice costs is what one of all does");
});

Deno.test("experts: how many choices could be read does not make their cost vary", () => {
  const ledger = new ExpertLedger(new StoppedTimes());
  // 20 each, and 30 each, of which half are read.
  ledger.choice(choice(0, { 1: 2 }, { tokens: 2 }));
  ledger.product(product(0, 40));
  ledger.choice(choice(100, { 0: 1, 1: 1 }, { tokens: 4, unread: 2 }));
  ledger.product(product(100, 220));
  const { estimatedNs, errorNs } = ledger.result()![0]!;
  assert.deepEqual(estimatedNs, [60, 100, 0, 0]);
  // A variance of 50, of one that stands for two, and of two that stand for themselves beside such a one.
  assert.deepEqual(errorNs.map((ns) => Math.round((ns / 1.96) ** 2)), [200, 300, 0, 0]);
});

Deno.test("experts: without a choice there is no table", () => {
  assert.equal(new ExpertLedger(new StoppedTimes()).result(), null);
});

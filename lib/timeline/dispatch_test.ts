import assert from "node:assert/strict";
import type { Event } from "../events/event.ts";
import { Tracks } from "../events/tracks.ts";
import type { Probe } from "../programs/probe.ts";
import { Dispatch, probeOf } from "./dispatch.ts";

/** Probes whose decoders write down what reaches them. */
function dispatch() {
  const seen: string[] = [];
  const probe = (name: string, more: Partial<Probe>): [string, Probe] => [name, {
    name,
    summary: "",
    template: "",
    records: {},
    ...more,
    decoder: () => ({
      event: (event) => void seen.push(`${name} saw ${event.record}`),
      snapshot: (snapshot) => void seen.push(`${name} saw ${snapshot.map} = ${snapshot.value}`),
      fact: (fact) => void seen.push(`${name} saw the fact ${fact.fact}`),
      end: (at) => void seen.push(`${name} ended at ${at}`),
    }),
  }];
  const probes = new Map([
    probe("a/outer", { records: { call: [] } }),
    probe("z/inner", { records: { hit: [] }, sees: ["a/outer.call"], facts: ["table"] }),
    probe("m/sums", { maps: { bytes: { key: [], unit: "bytes" } }, sees: ["a/outer.call"] }),
    probe("never/there", { records: { x: [] }, sees: ["a/outer.call"] }),
  ]);
  return { seen, dispatch: new Dispatch((name) => probes.get(name), new Tracks(), () => {}) };
}

const schema = (stream: string, records: string[], maps: Record<string, string> = {}) => ({
  stream,
  records: Object.fromEntries(records.map((name, i) => [10 + i, { name, fields: [] }])),
  maps,
  disorderNs: 0,
});
const event = (record: string): Event => ({ at: 1, stream: "s", record, pid: 1, tid: 1, values: [] });

for (const order of [["x", "y"], ["y", "x"]]) {
  Deno.test(`dispatch: who only sees a record acts before its owner, by name, when streams come as ${order.join(", ")}`, () => {
    const { seen, dispatch: d } = dispatch();
    const streams = { x: schema("x", ["clock", "a/outer.call"]), y: schema("y", ["z/inner.hit"], { bytes: "m/sums.bytes" }) };
    for (const name of order) d.add(streams[name as "x" | "y"]);
    d.event(event("a/outer.call"));
    d.event(event("z/inner.hit"));
    d.event(event("nobody/knows.this"));
    d.snapshot({ at: 1, stream: "y", map: "m/sums.bytes", key: [], value: 5 });
    d.fact({ fact: "table", symbol: "T", file: "f", names: [] }, 1);
    d.fact({ fact: "note", text: "nobody asked" }, 1);
    d.end(9);
    assert.deepEqual(seen, [
      "m/sums saw a/outer.call",
      "z/inner saw a/outer.call",
      "a/outer saw a/outer.call",
      "z/inner saw z/inner.hit",
      "m/sums saw m/sums.bytes = 5",
      "z/inner saw the fact table",
      "m/sums ended at 9",
      "z/inner ended at 9",
      "a/outer ended at 9",
    ]);
  });
}

Deno.test("dispatch: one decoder for a probe, whatever the number of streams that carry it", () => {
  const { seen, dispatch: d } = dispatch();
  d.add(schema("x", ["a/outer.call"]));
  d.add(schema("x-2", ["a/outer.call"]));
  d.event(event("a/outer.call"));
  assert.deepEqual(seen, ["a/outer saw a/outer.call"]);
  assert.equal(probeOf("ggml/ops.op"), "ggml/ops");
});

Deno.test("dispatch: what was told before a stream came is known to its decoders, as it is in a replay", () => {
  const { seen, dispatch: d } = dispatch();
  d.fact({ fact: "table", symbol: "T", file: "f", names: [] }, 1);
  d.fact({ fact: "note", text: "nobody asked" }, 2);
  d.add(schema("y", ["z/inner.hit"]));
  d.event(event("z/inner.hit"));
  assert.deepEqual(seen, ["z/inner saw the fact table", "z/inner saw z/inner.hit"]);
});

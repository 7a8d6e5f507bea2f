import assert from "node:assert/strict";
import { MapRows } from "./map_rows.ts";

function rows(): MapRows {
  const records = {
    10: { name: "p.pair", fields: [{ name: "x", type: "int" }, { name: "y", type: "int" }] },
    11: { name: "p.none", fields: [] },
    12: { name: "p.line", fields: [] },
  } as const;
  return new MapRows({ stream: "s", records, maps: {}, disorderNs: 0, rows: ["p.pair", "p.none"] });
}

Deno.test("map rows: a row becomes a line, without what fills it up", () => {
  const all = rows();
  assert.equal(all.record("@rows0[9700000000000001, 1]: (10, 7, -5, 140727104820264)"), "10 9700000000000001 7 -5 140727104820264");
  assert.equal(all.record("@rows2[9700000000000002, 12]: (11, 7, 0, 0)"), "11 9700000000000002 7");
});

Deno.test("map rows: what is no row of a record is handed on", () => {
  const broken = [
    "@rows0[1, 1]: (12, 1)",
    "@rows0[1, 1]: (10, 1, 2",
    "@rows3[1, 1]: (11, 1)",
    "@rows0[1, 1]: 5",
    "@rows0",
    "@rows0[1]: (11, 1)",
    "",
  ];
  for (const text of broken) assert.equal(rows().record(text), null, text);
  // A row that is too short is a line that is too short: the parser of lines says so.
  assert.equal(rows().record("@rows0[1, 1]: (10, 1)"), "10 1 1");
});

Deno.test("map rows: a print that is repeated is left out, equal times on two processors are not", () => {
  const all = rows();
  const print = (map: number, ...times: number[]) => times.map((at) => all.record(`@rows${map}[${at}, ${at % 2}]: (11, 1, 0, 0)`) !== "");
  assert.deepEqual(print(0, 1, 2, 3), [true, true, true]);
  assert.deepEqual(print(0, 1, 2, 3), [false, false, false]);
  all.swept();
  assert.deepEqual(print(0, 4), [true]);
  assert.deepEqual(print(1, 4, 5), [true, true]);
  assert.deepEqual(print(0, 4), [false]);
  assert.deepEqual(print(0, 5, 6), [true, true]);
  assert.equal(all.record("@rows0[6, 1]: (11, 1, 0, 0)"), "11 6 1");
});

Deno.test("map rows: what a full map refused is known when it is swept, once", () => {
  const all = rows();
  const row = (map: number, at: number) => all.record(`@rows${map}[${at}, 0]: (11, 1, 0, 0)`);
  row(0, 1);
  row(0, 2);
  assert.equal(all.record("@offered0: 5"), "");
  assert.equal(all.swept(), 3);
  assert.equal(all.record("@offered1: 0"), "");
  assert.equal(all.swept(), 0);
  row(0, 6);
  all.record("@offered0: 7");
  assert.equal(all.swept(), 1);
  assert.equal(all.record("@offered0: "), null);
});

import assert from "node:assert/strict";
import { tableOf } from "./figures_table.ts";

const rows = [{ name: "MUL_MAT", ns: 30 }, { name: "ADD", ns: 20 }, { name: "CPY", ns: 10 }];

Deno.test("tables: a row has in each column what belongs there, and what is false is no column", () => {
  const table = tableOf("Operators", rows, [
    [{ title: "operator", unit: "text" }, (row) => row.name],
    false,
    [{ title: "total", unit: "ns" }, (row) => row.ns],
  ]);
  assert.deepEqual(table.columns, [{ title: "operator", unit: "text" }, { title: "total", unit: "ns" }]);
  assert.deepEqual(table.rows, [["MUL_MAT", 30], ["ADD", 20], ["CPY", 10]]);
  assert.equal(table.title, "Operators");
});

Deno.test("tables: the first rows are shown, and the title says how many are not", () => {
  const { title, rows: shown } = tableOf("Operators", rows, [[{ title: "operator", unit: "text" }, (row) => row.name]], 1);
  assert.deepEqual([title, shown], ["Operators (2 more take less)", [["MUL_MAT"]]]);
  assert.equal(tableOf("Operators", rows, [], 3).title, "Operators");
});

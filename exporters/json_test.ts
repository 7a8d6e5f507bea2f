import assert from "node:assert/strict";
import { renderSummary, toJson } from "./json.ts";

Deno.test("a bigint is a number where that is exact and text where it is not", () => {
  assert.equal(toJson({ small: 5n, large: 9_700_000_123_456_789n, negative: -1n }), `{"small":5,"large":"9700000123456789","negative":-1}`);
});

Deno.test("a figure that is not known is null", () => {
  assert.equal(toJson([NaN, Infinity, null, 0.5]), "[null,null,null,0.5]");
});

Deno.test("a summary is one indented object with a newline at its end", () => {
  assert.equal(renderSummary({ schemaVersion: 1 }), `{\n  "schemaVersion": 1\n}\n`);
});

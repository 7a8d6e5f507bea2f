import assert from "node:assert/strict";
import { nearest } from "./nearest.ts";

Deno.test("a mistyped word finds what it means, another word nothing", () => {
  assert.equal(nearest("jsno", ["text", "json"]), "json");
  assert.equal(nearest("opreators", ["coldstart", "operators"]), "operators");
  assert.equal(nearest("banana", ["text", "json"]), null);
});

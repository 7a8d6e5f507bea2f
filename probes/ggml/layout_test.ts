import assert from "node:assert/strict";
import { tensorLayout } from "./layout.ts";

Deno.test("layout: between the sources and the name lie what a view shows, its offset, and the data, in every version", () => {
  const { sources, view, data, name } = tensorLayout;
  for (const [at, value] of Object.entries(name.by)) {
    assert.equal(value, Number(at));
    assert.equal(view.by[Number(at)], Number(at) - 24);
    assert.equal(data.by[Number(at)], Number(at) - 8);
    const first = sources.by[Number(at)]!;
    const count = (Number(at) - 24 - Number(first)) / 8;
    assert.ok(typeof first === "string" || count === 10 || count === 16, `${count} sources`);
  }
});

import assert from "node:assert/strict";
import { tensorLayout } from "./layout.ts";

const { sources, view, data, name } = tensorLayout;

Deno.test("layout: between the sources and the name lie what a view shows, its offset, and the data, in every version", () => {
  const room = { 256: 10, 264: 10, 312: 16, 272: 12, 280: 13 };
  for (const [at, places] of Object.entries(room)) {
    const [from, to] = [sources, view].map((param) => param.at(Number(at)));
    assert.equal((Number(to) - Number(from)) / 8, places, at);
    assert.equal(name.at(Number(at)), Number(at));
    assert.equal(data.at(Number(at)), Number(at) - 8);
    assert.equal(view.at(Number(at)), Number(at) - 24);
  }
});

Deno.test("layout: where the name is at no place that llmprof knows is said, and operators are not seen", () => {
  assert.match(String(sources.at(288)), /in phases/);
  for (const at of [248, 192, 260]) assert.match(String(sources.at(at)), new RegExp(`the name is ${at} bytes behind`));
});

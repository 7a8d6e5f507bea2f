import assert from "node:assert/strict";
import { from, node, weight } from "../../tests/harness/graphs.ts";
import { GraphTimes, TimesOfOthers } from "./graph_times.ts";

Deno.test("graph times: of a graph that comes again, described anew, and of none that differs in one thing", () => {
  const built = (name = "w") => [node(2 ** 40 + 1, "ADD", "a", weight(name), undefined, from(3, "b"))];
  const others = new TimesOfOthers(), times = new GraphTimes(1);
  times.add([7]);
  others.put(built(), times);
  const [a] = built();
  const differ = [{ ...a!, address: 1 }, { ...a!, into: 1 }, { ...a!, op: "MUL" }, { ...a!, name: "A" }, { ...a!, shape: "" }, ...built("v")];
  for (const node of differ) assert.equal(others.take([node]).times, 0, JSON.stringify(node));
  assert.equal(others.take(built()), times);
  assert.equal(others.take(built()).times, 0);
});

Deno.test("graph times: of more nodes than there is room for, those of graphs that came last", () => {
  const others = new TimesOfOthers(4), graph = (name: string) => [node(1, "ADD", name), node(2, "MUL", name)];
  for (const name of ["a", "b", "c"]) {
    const times = new GraphTimes(2);
    times.add([1, 1]);
    others.put(graph(name), times);
  }
  assert.deepEqual(["a", "b", "c"].map((name) => others.take(graph(name)).times), [0, 1, 1]);
});

import assert from "node:assert/strict";
import type { Slice, Span } from "../../lib/events/span.ts";
import { computed, diamond, from, node } from "../../tests/harness/graphs.ts";
import { TestSpans } from "../../tests/harness/spans.ts";
import { GraphArrows } from "./arrows.ts";

/** Pairs of `name@ms` that arrows join, and the slices that are said to be critical. */
function drawn(spans: readonly Span[]) {
  const arrows = new GraphArrows();
  const begun = new Map<number, string>(), joined: string[] = [], critical: string[] = [];
  for (const span of spans) {
    const slice = arrows.of(span as Slice);
    const name = `${slice.node?.name}@${slice.start / 1e6}`;
    for (const arrow of slice.arrows?.begin ?? []) begun.set(arrow, name);
    for (const arrow of slice.arrows?.end ?? []) joined.push(`${begun.get(arrow)} ${name}`);
    if (slice.args?.critical) critical.push(name);
  }
  return { joined, critical, begun: begun.size };
}

/** a at 100, b at 110, c at 130, d at 135: b and c from a, d from both. */
const edges = ["a@100 b@110", "a@100 c@130", "b@110 d@135", "c@130 d@135"];

Deno.test("arrows: the edges of a graph, between the slices of its second computation alone", () => {
  const s = new TestSpans();
  const times = [0, 100, 200, 300].flatMap((at) => computed(s, diamond, at));
  assert.deepEqual(drawn(times), { joined: edges, critical: ["a@100", "b@110", "d@135"], begun: 4 });
});

Deno.test("arrows: every graph has its own, of whatever process; a part of one is none", () => {
  const s = new TestSpans(), other = s.of(200);
  const others = diamond.map((each) => ({ ...each }));
  const spans = [0, 100].flatMap((at) => [...computed(s, diamond, at), ...computed(other, others, at + 40)]);
  assert.deepEqual(drawn(spans).joined, [...edges, "a@140 b@150", "a@140 c@170", "b@150 d@175", "c@170 d@175"]);
  const cut = (at: number) => computed(s, diamond, at).map((span) => span.type === "slice" && !span.node ? { ...span, open: true } : span);
  assert.deepEqual(
    drawn([...computed(s, diamond), ...cut(100), ...computed(s, diamond, 200)]).joined.slice(4),
    edges.map((edge) => edge.replace(/@1/g, "@2")),
  );
});

Deno.test("arrows: what shares nodes with a drawn graph is not drawn; what comes twice from one node has one", () => {
  const s = new TestSpans();
  const grown = [...diamond.slice(0, 3), node(4, "ADD", "d2", from(2, "b"), from(3, "c"))];
  const spans = [...[0, 100].flatMap((at) => computed(s, diamond, at)), ...[200, 300, 400].flatMap((at) => computed(s, grown, at))];
  assert.deepEqual(drawn(spans).joined, edges);
  const square = [node(1, "MUL_MAT", "a"), node(2, "MUL", "b", from(1, "a"), from(1, "a"))];
  assert.deepEqual(drawn([0, 100].flatMap((at) => computed(s, square, at))).joined, ["a@100 b@110"]);
});

Deno.test("arrows: of an engine that builds every graph anew no more than some wait, and what is drawn later is true", () => {
  const s = new TestSpans();
  const anew = Array.from({ length: 70 }, (_, i) => computed(s, diamond.map((each) => ({ ...each })), 100 * i)).flat();
  // The last of them is computed again, when too many waited; the first, which waits, is drawn.
  const last = anew.slice(-5).flatMap((span) => span.type === "slice" && span.node ? [span.node] : []);
  const first = anew.slice(0, 5).flatMap((span) => span.type === "slice" && span.node ? [span.node] : []);
  assert.equal(drawn([...anew, ...computed(s, last, 7000)]).begun, 0);
  assert.equal(drawn([...anew, ...computed(s, first, 7000)]).joined.length, 4);
});

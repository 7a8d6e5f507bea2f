import assert from "node:assert/strict";
import type { Span } from "../events/span.ts";
import { Tracks } from "../events/tracks.ts";
import { tell } from "../../tests/harness/decoding.ts";
import { OpenSlices } from "./open_slices.ts";

const track = new Tracks().thread(100, 100);

function collect() {
  const spans: Span[] = [];
  const out = (span: Span) => void spans.push(span);
  const slice = (name: string, start: number) => ({ track, name, category: "c", start, args: { of: name } });
  return { out, slice, open: new OpenSlices(), told: () => spans.splice(0).map(tell) };
}

Deno.test("open slices: an end takes its beginning's name and adds its own arguments", () => {
  const { open, out, slice, told } = collect();
  open.begin("a", slice("f", 1), out);
  assert.ok(open.has("a"));
  assert.equal(open.end("a", 5, out, { ret: 0 })?.end, 5);
  assert.ok(!open.has("a"));
  assert.equal(open.end("a", 6, out), undefined, "no beginning, no slice");
  assert.deepEqual(told(), ['100/100 c "f" 1–5 of=f ret=0']);
});

Deno.test("open slices: what calls itself counts once, from the outermost beginning to its end", () => {
  const { open, out, slice, told } = collect();
  open.begin("a", slice("f", 1), out, true);
  open.begin("a", slice("g", 2), out, true);
  assert.equal(open.end("a", 3, out), undefined);
  open.end("a", 4, out);
  assert.deepEqual(told(), ['100/100 c "f" 1–4 of=f']);
});

Deno.test("open slices: a second beginning closes the first, the end of the run the rest, inner ones first", () => {
  const { open, out, slice, told } = collect();
  open.begin("a", slice("f", 1), out);
  open.begin("a", slice("g", 3), out);
  open.begin("b", slice("h", 4), out);
  open.closeAll(9, out);
  open.closeAll(10, out);
  assert.deepEqual(told(), ['100/100 c "f" 1–3 (open) of=f', '100/100 c "h" 4–9 (open) of=h', '100/100 c "g" 3–9 (open) of=g']);
});

Deno.test("open slices: no slice ends before it begins", () => {
  const { open, out, slice, told } = collect();
  open.begin("a", slice("f", 5), out);
  open.end("a", 3, out);
  assert.deepEqual(told(), ['100/100 c "f" 5–5 of=f']);
});

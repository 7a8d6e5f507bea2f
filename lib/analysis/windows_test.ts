import assert from "node:assert/strict";
import type { Mark } from "../events/span.ts";
import { Windows } from "./windows.ts";

const window = (at: number, open: boolean, stream = "ggml"): Mark => ({ type: "mark", at, kind: "window", stream, text: "", open });
const ended = (at: number): Mark => ({ type: "mark", at, kind: "ended", stream: "host", text: "" });

Deno.test("windows: one from the first opening to the last end, another after each life", () => {
  const windows = new Windows();
  const marks = [
    window(10, true),
    window(15, true, "llama"),
    window(30, false),
    window(31, false, "llama"),
    ended(32),
    window(50, true),
    window(60, false),
  ];
  for (const mark of marks) windows.mark(mark);
  assert.deepEqual(windows.result(), { count: 2, ns: 21 + 10 });
});

Deno.test("windows: none, and a life that ended before its windows were shut", () => {
  assert.deepEqual(new Windows().result(), { count: 0, ns: 0 });
  const windows = new Windows();
  for (const mark of [window(10, true), ended(20), window(21, false), ended(22)]) windows.mark(mark);
  assert.deepEqual(windows.result(), { count: 1, ns: 11 });
});

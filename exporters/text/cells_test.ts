import assert from "node:assert/strict";
import { harmless } from "../../lib/events/text.ts";
import { clip, columns, left, right, wrap } from "./cells.ts";

Deno.test("columns are those of a terminal, not of a string", () => {
  assert.deepEqual(["abc", "日本", "é", "e\u0301", "🦙", "–"].map(columns), [3, 4, 1, 1, 2, 1]);
  assert.equal(left("日", 4) + "|", "日  |");
  assert.equal(right("日", 4) + "|", "  日|");
});

Deno.test("a clipped text keeps its beginning and more of its end", () => {
  assert.equal(clip("/models/llama-3-8b-instruct.Q4_0.gguf", 20), "/model…uct.Q4_0.gguf");
  assert.equal(clip("short", 5), "short");
  assert.equal(columns(clip("日本語日本語日本語", 9)) <= 9, true);
  assert.equal(clip("🦙🦙🦙🦙🦙", 6), "…🦙🦙");
});

Deno.test("a name cannot steer the terminal", () => {
  assert.equal(harmless("a\x1b[31mb\nc\u202ed"), "a\ufffd[31mb\ufffdc\ufffdd");
});

Deno.test("text is broken at spaces, and a word that is too long keeps its line", () => {
  assert.deepEqual(wrap("one two three", 7), ["one two", "three"]);
  assert.deepEqual(wrap("a /very/long/path b", 6), ["a", "/very/long/path", "b"]);
  assert.deepEqual(wrap("", 6), [""]);
});

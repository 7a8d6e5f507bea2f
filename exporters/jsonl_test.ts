import assert from "node:assert/strict";
import type { Span } from "../lib/events/span.ts";
import { Tracks } from "../lib/events/tracks.ts";
import { head } from "../tests/judge/corpus.ts";
import { exported } from "../tests/judge/memory_sink.ts";
import { openJsonl } from "./jsonl.ts";

const tracks = new Tracks();
const spans: Span[] = [
  { type: "name", track: tracks.thread(7, 8), name: "ggml", at: 1 },
  { type: "slice", track: tracks.lane(7, "worker 0"), name: "ADD", category: "ggml.op", start: 10, end: 12, args: { layer: 0 }, open: true },
  { type: "counter", track: tracks.counter(7, "page faults", "faults"), at: 13, value: NaN },
  { type: "mark", at: 14, kind: "lost", stream: "ggml", text: "2 events lost", count: 2 },
];

Deno.test("lines of a run: head, spans, views; times are text, what is not known is null", () => {
  const text = exported(openJsonl, head, spans, [{ type: "note", level: "info", text: "line one\nline two" }]).text();
  assert.equal(
    text,
    `{"type":"head","clock":{"name":"boottime","base":"9700000123456789","realtimeOffset":"1750000000987654321"},"llmprof":"0.1.0","command":"record",` +
      `"facts":{"kernel":"6.18","model":"mödel \\"Q4_0\\".gguf","empty":""}}
{"type":"name","at":"9700000123456790","name":"ggml","track":{"kind":"thread","name":"thread 8","pid":7,"tid":8}}
{"type":"slice","start":"9700000123456799","end":"9700000123456801","duration":2,"name":"ADD","category":"ggml.op",` +
      `"track":{"kind":"lane","name":"worker 0","pid":7},"args":{"layer":0},"open":true}
{"type":"counter","at":"9700000123456802","value":null,"track":{"kind":"counter","name":"page faults","pid":7,"unit":"faults"}}
{"type":"mark","at":"9700000123456803","kind":"lost","stream":"ggml","text":"2 events lost","count":2}
{"type":"view","view":{"type":"note","level":"info","text":"line one\\nline two"}}
`,
  );
});

import assert from "node:assert/strict";
import type { Span } from "../lib/events/span.ts";
import { Tracks } from "../lib/events/tracks.ts";
import { temporary } from "../tests/harness/temporary.ts";
import { head, spans } from "../tests/judge/corpus.ts";
import { exported } from "../tests/judge/memory_sink.ts";
import { errors, judged, query } from "../tests/judge/trace_processor.ts";
import { openChrome } from "./chrome.ts";

Deno.test("a run without spans is valid JSON with the run's facts", () => {
  const trace = JSON.parse(exported(openChrome, head, []).text());
  assert.deepEqual(trace.traceEvents, []);
  assert.equal(trace.otherData.kernel, "6.18");
  assert.equal(trace.otherData.command, "record");
});

Deno.test("rows that are no threads have numbers that no thread can have, each its own", () => {
  // deno-lint-ignore no-explicit-any -- what another program would see
  const events: any[] = JSON.parse(exported(openChrome, head, spans).text()).traceEvents;
  const named = events.filter(({ name }) => name === "thread_name");
  const own = named.filter(({ tid }) => tid > 4_194_304);
  assert.equal(new Set(own.map(({ tid }) => tid)).size, own.length);
  assert.deepEqual(named.filter(({ tid }) => tid <= 4_194_304).map(({ tid, args }) => `${tid} ${args.name}`), [
    "4194300 main",
    "4194300 llama-server",
    "4194300 llama-main",
    "4194301 thread 4194301",
  ]);
});

Deno.test("times are relative to a base before the run, and since the boot where that is exact", () => {
  const early = { ...head, clock: { ...head.clock, base: 5_000_000_001n } };
  const mark: Span = { type: "mark", at: 1, kind: "note", stream: "host", text: "here" };
  const trace = JSON.parse(exported(openChrome, early, [mark]).text());
  assert.equal(trace.otherData.clockBase, "0");
  // deno-lint-ignore no-explicit-any -- what another program would see
  assert.equal(trace.traceEvents.find((e: any) => e.ph === "i").ts, 5_000_000.002);
  assert.equal(JSON.parse(exported(openChrome, head, []).text()).otherData.clockBase, String(head.clock.base - 864_000_000_000_000n));
});

await judged("slices nest in JSON as they do in protobuf", async () => {
  using folder = temporary();
  const path = folder.file("trace.json");
  Deno.writeFileSync(path, exported(openChrome, head, spans).bytes());
  const sql = `select slice.name || ' < ' || p.name as line from slice join slice p on p.id = slice.parent_id order by slice.id`;
  assert.deepEqual((await query(path, sql)).map(({ line }) => line), [
    "open model.gguf < model.gguf",
    "read model.gguf < model.gguf",
    "mlock < llama_model_load_from_file",
    "mlock < llama_model_load_from_file",
  ]);
});

await judged("neighbours of a nanosecond stay apart a month into a run on a machine that is up for four", async () => {
  using folder = temporary();
  const path = folder.file("trace.json");
  const track = new Tracks().lane(7, "worker 0");
  const neighbours: Span[] = Array.from({ length: 2003 }, (_, i) => {
    const start = 30 * 86_400e9 + 7 * i;
    return { type: "slice", track, name: "op", category: "ggml.op", start, end: start + 7 };
  });
  Deno.writeFileSync(path, exported(openChrome, head, neighbours).bytes());
  const [row] = await query(path, "select count(*) as n, sum(dur) as dur, max(ts) - min(ts) as span, max(depth) as depth from slice");
  assert.deepEqual(row, { n: 2003n, dur: 7n * 2003n, span: 7n * 2002n, depth: 0n });
  assert.deepEqual(await errors(path), []);
});

import assert from "node:assert/strict";
import type { Span } from "../lib/events/span.ts";
import { Tracks } from "../lib/events/tracks.ts";
import { seeded } from "../tests/harness/spans.ts";
import { temporary } from "../tests/harness/temporary.ts";
import { head, spans } from "../tests/judge/corpus.ts";
import { exported } from "../tests/judge/memory_sink.ts";
import { errors, judged, query } from "../tests/judge/trace_processor.ts";
import { openByteSink } from "./file.ts";
import { openPerfetto } from "./perfetto.ts";

async function asked(input: Iterable<Span>, ...questions: string[]) {
  using folder = temporary();
  const path = folder.file("trace.pftrace");
  Deno.writeFileSync(path, exported(openPerfetto, head, input).bytes());
  const answers = [];
  for (const sql of questions) answers.push(await query(path, sql));
  assert.deepEqual(await errors(path), []);
  return answers;
}

await judged("slices are inside what encloses them, whichever came first", async () => {
  const sql = `select slice.name || ' < ' || coalesce(p.name, '') as line from slice left join slice p on p.id = slice.parent_id
    where slice.category in ('file.open', 'file.read', 'library.load', 'memory.lock', 'llama.load', 'socket.listen') order by slice.id`;
  const [rows] = await asked(spans, sql);
  assert.deepEqual(rows!.map(({ line }) => line), [
    "model.gguf < ",
    "open model.gguf < model.gguf",
    "read model.gguf < model.gguf",
    "listen < ",
    "llama_model_load_from_file < ",
    "mlock < llama_model_load_from_file",
    "mlock < llama_model_load_from_file",
  ]);
});

await judged("processes, threads, lanes and counters are named, tied and ordered", async () => {
  const [processes, threads, lanes, counters, grouped] = await asked(
    spans,
    "select name from process where pid = 4194300",
    "select tid, thread.name, is_main_thread from thread join process using (upid) where pid = 4194300 order by tid",
    `select name, extract_arg(source_arg_set_id, 'sibling_order_rank') as rank from process_track where name like 'worker%' order by rank`,
    "select name, unit from process_counter_track order by name",
    "select folder.name as folder, track.name from track join track folder on track.parent_id = folder.id",
  );
  assert.deepEqual(processes, [{ name: "llama-server" }]);
  assert.deepEqual(threads, [
    { tid: 4194300n, name: "llama-main", is_main_thread: 1n },
    { tid: 4194301n, name: "thread 4194301", is_main_thread: 0n },
  ]);
  assert.deepEqual(lanes, [{ name: "worker 0", rank: 1n }, { name: "worker 1", rank: 2n }]);
  assert.deepEqual(counters, [{ name: "page cache filled: m.gguf", unit: "bytes" }, { name: "page faults", unit: "faults" }]);
  assert.deepEqual(grouped, [{ folder: "page cache filled", name: "page cache filled: m.gguf" }]);
});

await judged("the run's facts stand in the trace, and its clock is tied to real time", async () => {
  const [facts, clocks] = await asked(
    spans,
    "select key, string_value as value from slice join args using (arg_set_id) where category = 'llmprof.run' order by key",
    // Rows of operators have snapshots of their own clocks.
    "select clock_name as name, clock_value as value from clock_snapshot where snapshot_id = (select min(snapshot_id) from clock_snapshot) order by name",
  );
  assert.deepEqual(Object.fromEntries(facts!.map(({ key, value }) => [key, value])), {
    "debug.clockBase": "9700000123456789",
    "debug.command": "record",
    "debug.empty": "",
    "debug.kernel": "6.18",
    "debug.llmprof": "0.1.0",
    "debug.model": 'mödel "Q4_0".gguf',
    "debug.realtimeOffset": "1750000000987654321",
  });
  const { base, realtimeOffset } = head.clock;
  assert.deepEqual(clocks, [{ name: "BOOTTIME", value: base }, { name: "REALTIME", value: base + realtimeOffset }]);
});

await judged("a run without spans is a trace that opens", async () => {
  const [slices] = await asked([], "select name from slice");
  assert.deepEqual(slices, [{ name: "llmprof record" }]);
});

/** 100,003 operators (a prime) on four lanes, each beginning where the last one ended; more tensors than are interned. */
function* operators(): Iterable<Span> {
  const tracks = new Tracks();
  const lanes = [0, 1, 2, 3].map((worker) => tracks.lane(7, `worker ${worker}`, worker));
  for (let i = 0; i < 100_003; i++) {
    const start = (i >> 2) * 1001;
    yield { type: "slice", track: lanes[i % 4]!, name: `op ${i % 7}`, category: "ggml.op", start, end: start + 1001, args: { tensor: `node_${i}` } };
  }
}

await judged("a slice that says nothing of itself takes at most 26 bytes, its begin and its end, and has its times and its name", async () => {
  const lane = new Tracks().lane(7, "worker 0", 0), count = 10_007;
  const random = seeded(1), times = [0];
  for (let i = 0; i < count; i++) times.push(times[i]! + 1 + random(i % 2 === 0 ? 16_000 : 2_000_000));
  const links = Array.from({ length: 7 }, (_, i) => ({ name: `op ${i}`, args: {} }));
  const chain = { type: "chain", track: lane, category: "ggml.op", tid: 7, links: times.slice(1).map((_, i) => links[i % 7]!), times } as const;
  const [most, none] = [exported(openPerfetto, head, [chain]).bytes().length, exported(openPerfetto, head, []).bytes().length];
  assert.ok((most - none) / count <= 26, `${(most - none) / count} bytes`);
  const [rows] = await asked([chain], `select ts - ${head.clock.base} as start, dur, name from slice where category = 'ggml.op' order by ts`);
  assert.deepEqual(rows, times.slice(1).map((end, i) => ({ start: BigInt(times[i]!), dur: BigInt(end - times[i]!), name: `op ${i % 7}` })));
});

await judged("slices of graphs that come again are what they were, wherever their chains are cut, and where some take no time at all", async () => {
  using folder = temporary();
  const path = folder.file("t.pftrace"), random = seeded(1), lane = new Tracks().lane(7, "worker 0", 0);
  const graphs = [97, 61].map((size) => Array.from({ length: size }, (_, i) => ({ name: `op ${i % 7}`, args: { tensor: `node-${size}-${i}` } })));
  const exporter = openPerfetto(await openByteSink(path), head);
  const expected: unknown[] = [];
  for (let round = 0, at = 0; round < 211; round++, at += random(2)) {
    const links = graphs[random(3) === 0 ? 1 : 0]!;
    for (let from = 0; from < links.length;) {
      const piece = links.slice(from, from += 1 + random(50)), times = [at];
      for (const { name, args } of piece) {
        const start = at;
        times.push(at += random(9) === 0 ? 0 : random(50_000));
        expected.push({ start: BigInt(start), dur: BigInt(at - start), name, tensor: args.tensor, depth: 0n });
      }
      exporter.span({ type: "chain", track: lane, category: "ggml.op", tid: 7, links: piece, times });
    }
  }
  exporter.close([]);
  const sql = `select ts - ${head.clock.base} as start, dur, name, extract_arg(arg_set_id, 'debug.tensor') as tensor, depth from slice
    where category = 'ggml.op' order by id`;
  const inOrder = (rows: readonly unknown[]) =>
    rows.map((row) => JSON.stringify(row, (_, value) => typeof value === "bigint" ? Number(value) : value)).sort();
  assert.deepEqual(inOrder(await query(path, sql)), inOrder(expected));
  assert.deepEqual(await errors(path), []);
});

await judged("100,003 slices arrive in pieces of bounded size and are all there", async () => {
  const sink = exported(openPerfetto, head, operators());
  assert.ok(sink.blocks.length > 10);
  for (const block of sink.blocks) assert.ok(block.length < 300 * 1024, String(block.length));
  const sql = `select count(*) as n, sum(dur) as dur, max(depth) as depth, max(ts) - ${head.clock.base} as last,
    count(distinct extract_arg(arg_set_id, 'debug.tensor')) as tensors, count(distinct name) as names from slice where category = 'ggml.op'`;
  const [rows] = await asked(operators(), sql);
  assert.deepEqual(rows, [{ n: 100_003n, dur: 100_003n * 1001n, depth: 0n, last: 25_000n * 1001n, tensors: 100_003n, names: 7n }]);
});

import assert from "node:assert/strict";
import { computed, diamond } from "../tests/harness/graphs.ts";
import { TestSpans } from "../tests/harness/spans.ts";
import { temporary } from "../tests/harness/temporary.ts";
import { head, slices, spans } from "../tests/judge/corpus.ts";
import { exported } from "../tests/judge/memory_sink.ts";
import { event, place, told, toldBySql } from "../tests/judge/told.ts";
import { errors, judged, query } from "../tests/judge/trace_processor.ts";
import { openChrome } from "./chrome.ts";
import { openJsonl } from "./jsonl.ts";
import { openPerfetto } from "./perfetto.ts";

const expected = told(spans);

await judged("a .pftrace tells trace_processor the same spans, to the nanosecond beyond 2^53", async () => {
  using folder = temporary();
  const path = folder.file("trace.pftrace");
  Deno.writeFileSync(path, exported(openPerfetto, head, spans).bytes());
  assert.deepEqual(await toldBySql(path), expected);
  assert.deepEqual(await errors(path), []);
});

await judged("a .json tells trace_processor the same spans", async () => {
  using folder = temporary();
  const path = folder.file("trace.json");
  const text = exported(openChrome, head, spans).text();
  Deno.writeTextFileSync(path, text);
  assert.deepEqual(await toldBySql(path, BigInt(JSON.parse(text).otherData.clockBase)), expected);
  assert.deepEqual(await errors(path), []);
});

Deno.test("a .json tells a reader of JSON the same slices", () => {
  const trace = JSON.parse(exported(openChrome, head, spans).text());
  // deno-lint-ignore no-explicit-any -- what another program would see
  const events: any[] = trace.traceEvents;
  const names = new Map(events.filter((e) => e.name === "thread_name").map((e) => [e.tid, e.args.name.replace(/ \(row \d\)$/, "")]));
  const nanos = (micros: number) => BigInt(Math.round(micros * 1000));
  const lines = events.filter((e) => e.ph === "X").map((e) => {
    const name = e.tid >= 10_000_000 ? names.get(e.tid) ?? "llmprof" : e.tid;
    const row = name === "llmprof" ? name : `${place(e.pid)} ${name}`;
    return event(BigInt(trace.otherData.clockBase) + nanos(e.ts), nanos(e.dur), row, e.cat, e.name, e.args);
  });
  assert.deepEqual(lines.sort(), told(slices));
});

Deno.test("a .jsonl tells a reader of lines the same spans", () => {
  const lines = exported(openJsonl, head, spans).text().trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.equal(lines[0].type, "head");
  // deno-lint-ignore no-explicit-any -- what another program would see
  const row = ({ kind, name, pid, tid }: any) =>
    kind === "run" ? name : `${place(pid)} ${kind === "thread" ? tid : kind === "process" ? "process" : name}`;
  const read = lines.slice(1).flatMap((line) => {
    if (line.type === "slice") {
      assert.equal(BigInt(line.end) - BigInt(line.start), BigInt(line.duration));
      const args = line.open ? { ...line.args, open: true } : line.args;
      return [event(BigInt(line.start), line.duration, row(line.track), line.category, line.name, args)];
    }
    if (line.type === "instant") return [event(BigInt(line.at), 0, row(line.track), line.category, line.name, line.args)];
    const { stream, count } = line;
    if (line.type === "mark") return [event(BigInt(line.at), 0, "llmprof", `llmprof.${line.kind}`, line.text, { stream, ...(count && { count }) })];
    return line.type === "counter" ? [`${line.at} ${place(line.track.pid)} ${line.track.name} = ${line.value}`] : [];
  });
  assert.deepEqual(read.sort(), expected);
});

for (const [extension, open] of [["pftrace", openPerfetto], ["json", openChrome]] as const) {
  await judged(`arrows of a .${extension} lead from an operator to what is computed from it`, async () => {
    using folder = temporary();
    const path = folder.file(`trace.${extension}`);
    const s = new TestSpans();
    Deno.writeFileSync(path, exported(open, head, [0, 100, 200].flatMap((at) => computed(s, diamond, at))).bytes());
    const rows = await query(
      path,
      `select a.name || '@' || ((a.ts - (select min(ts) from slice where category = 'ggml.op')) / 1000000) || ' > ' || b.name as arrow,
        exists (select 1 from args where args.arg_set_id = b.arg_set_id and key like '%.critical') as critical
      from flow join slice a on a.id = slice_out join slice b on b.id = slice_in order by 1`,
    );
    assert.deepEqual(rows.map(({ arrow, critical }) => [arrow, critical]), [
      ["MUL_MAT@110 > ADD", 1n],
      ["RMS_NORM@100 > MUL_MAT", 1n],
      ["RMS_NORM@100 > ROPE", 0n],
      ["ROPE@130 > ADD", 1n],
    ]);
    assert.deepEqual(await errors(path), []);
  });
}

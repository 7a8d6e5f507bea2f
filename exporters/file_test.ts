import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { temporary } from "../tests/harness/temporary.ts";
import { head, spans } from "../tests/judge/corpus.ts";
import { exported, MemorySink } from "../tests/judge/memory_sink.ts";
import { errors, judged, query } from "../tests/judge/trace_processor.ts";
import { RegularFile } from "../lib/machine/regular_file.ts";
import { openByteSink, sinkTo } from "./file.ts";
import { formatOf, formats, isGzip } from "./formats.ts";
import { GzipSink } from "./gzip.ts";
import { openPerfetto } from "./perfetto.ts";

async function write(path: string, blocks: readonly Uint8Array[]): Promise<void> {
  const sink = await openByteSink(path);
  for (const block of blocks) sink.write(block);
  sink.close();
}

/** Some that compress well, some that do not, and none. */
const blocks = [
  new Uint8Array(300_000).fill(65),
  new Uint8Array(0),
  Uint8Array.from({ length: 70_001 }, (_, i) => i * i * 31 >> 3),
  Uint8Array.of(1),
];

Deno.test("a file holds what was written, in order, and nothing of what was there before", async () => {
  using folder = temporary();
  const path = folder.file("plain.json");
  Deno.writeFileSync(path, new Uint8Array(1_000_000).fill(66));
  await write(path, blocks);
  assert.deepEqual(Deno.readFileSync(path), Uint8Array.from(blocks.flatMap((block) => [...block])));
});

Deno.test("what was written last can be replaced by less, or by more, also behind a tail", async () => {
  using folder = temporary();
  const path = folder.file("plain.pftrace"), sink = await openByteSink(path);
  const text = (bytes: string) => new TextEncoder().encode(bytes);
  sink.write(text("one two three"), text(" and a tail"));
  const covered: number[] = [];
  const cover = (length: number) => {
    covered.push(length);
    return text("#");
  };
  sink.replace!("two three".length, text("2"), cover);
  assert.equal(Deno.readTextFileSync(path), "one 2");
  sink.write(text(""), text(" end"));
  sink.write(text(" 3"));
  sink.replace!("2 3".length, text("two three"), cover);
  sink.write(text(" four"));
  sink.close();
  assert.equal(Deno.readTextFileSync(path), "one two three four");
  assert.deepEqual(covered, [" three and a tail".length + "wo".length]);
});

/** A snapshot's lines, added to what is in a file. */
async function add(path: string, ...lines: string[]): Promise<void> {
  const sink = await sinkTo(RegularFile.create(path, null, path.endsWith(".gz") ? "change" : "grow"), true);
  for (const line of lines) sink.write(new TextEncoder().encode(line), new Uint8Array());
  sink.close();
}

Deno.test("lines are added to a file, in the place of one that was cut, and from its beginning where what was there is taken away meanwhile", async () => {
  using folder = temporary();
  const [path, packed] = [folder.file("a.jsonl"), folder.file("a.jsonl.gz")];
  for (const run of [1, 2]) {
    await add(path, `{"run":${run}}\n`, "{}\n");
    await add(packed, `{"run":${run}}\n`, "{}\n");
  }
  const lines = '{"run":1}\n{}\n{"run":2}\n{}\n';
  assert.deepEqual([Deno.readTextFileSync(path), gunzipSync(Deno.readFileSync(packed)).toString()], [lines, lines]);
  Deno.writeTextFileSync(path, '{"cut', { append: true });
  await add(path, "{}\n");
  assert.equal(Deno.readTextFileSync(path), `${lines}{}\n`);
  const ends = [
    ['{"cut', "{}\n"],
    ["{}\n\0\0", "{}\n{}\n"],
    ['{"whole":1}', '{"whole":1}\n{}\n'],
    // Not llmprof's.
    ['{\n  "a": 1\n}', '{\n  "a": 1\n}\n{}\n'],
  ] as const;
  for (const [before, after] of ends) {
    Deno.writeTextFileSync(folder.file("b.jsonl"), before);
    await add(folder.file("b.jsonl"), "{}\n");
    assert.equal(Deno.readTextFileSync(folder.file("b.jsonl")), after);
  }
  const sink = await sinkTo(RegularFile.create(path, null, "grow"), true), text = (line: string) => new TextEncoder().encode(line);
  sink.write(text('{"before":1}\n'));
  Deno.truncateSync(path);
  sink.write(text('{"behind":1}\n'));
  sink.close();
  assert.equal(Deno.readTextFileSync(path), '{"behind":1}\n');
});

Deno.test("where lines cannot be added, nor what there is of them be taken back, it is told why they cannot be added", async () => {
  using folder = temporary();
  const sink = await sinkTo(RegularFile.create(folder.file("a.jsonl"), null, "grow"), true), { write, truncate } = RegularFile.prototype;
  const refusing = (why: string) => () => {
    throw new Error(why);
  };
  try {
    Object.assign(RegularFile.prototype, { write: refusing("a full disk"), truncate: refusing("a limit") });
    assert.throws(() => sink.write(new TextEncoder().encode("{}\n")), /a full disk/);
  } finally {
    Object.assign(RegularFile.prototype, { write, truncate });
  }
  sink.close();
});

Deno.test("of two that add to one compressed file, neither writes over what the other has written, nor into a file that was emptied", async () => {
  using folder = temporary();
  const path = folder.file("a.jsonl.gz"), line = (run: number) => new TextEncoder().encode(`{"run":${run}}\n`), tail = new Uint8Array();
  const open = () => sinkTo(RegularFile.create(path, null, "change"), true), lines = () => gunzipSync(Deno.readFileSync(path)).toString();
  await add(path, '{"run":0}\n');
  const [first, second] = [await open(), await open()];
  first.write(line(1), tail);
  for (const late of [() => second.write(line(2), tail), () => second.close()]) assert.throws(late, /Somebody else has written to it meanwhile/);
  first.write(line(1), tail);
  assert.equal(lines(), '{"run":0}\n{"run":1}\n{"run":1}\n');
  Deno.truncateSync(path);
  assert.throws(() => first.write(line(1), tail), /Somebody else has written to it meanwhile/);
  assert.equal(Deno.statSync(path).size, 0);
});

Deno.test("where a disk fails, and a tail cannot be put back, the file ends before it", async () => {
  using folder = temporary();
  const path = folder.file("plain.json"), sink = await openByteSink(path);
  const { writeAt } = RegularFile.prototype, text = (bytes: string) => new TextEncoder().encode(bytes);
  sink.write(text("[1"), text("]\n"));
  try {
    let calls = 0;
    RegularFile.prototype.writeAt = function (bytes, at) {
      // A part of the first one is on the disk.
      if (calls++ === 0) writeAt.call(this, bytes.subarray(0, 3), at);
      throw new Error("Input/output error (os error 5)");
    };
    assert.throws(() => sink.write(text(",2,3,4")), /os error 5/);
    assert.equal(calls, 2);
  } finally {
    RegularFile.prototype.writeAt = writeAt;
  }
  assert.equal(Deno.readTextFileSync(path), "[1");
});

Deno.test("a name that ends in .gz is one gzip member, the same bytes each time", async () => {
  using folder = temporary();
  const [path, again] = [folder.file("trace.json.gz"), folder.file("again.json.gz")];
  await write(path, blocks);
  await write(again, blocks);
  const bytes = Deno.readFileSync(path);
  assert.ok(bytes.length < 100_000);
  assert.deepEqual(new Uint8Array(gunzipSync(bytes)), Uint8Array.from(blocks.flatMap((block) => [...block])));
  assert.deepEqual(bytes, Deno.readFileSync(again));
  // A browser's reader accepts one member and nothing behind it.
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  assert.equal((await new Response(stream).bytes()).length, 370_002);
});

Deno.test("what was there before stays where nothing is written, and a new file does not", async () => {
  using folder = temporary();
  for (const name of ["old.json", "old.json.gz"]) {
    Deno.writeTextFileSync(folder.file(name), "before");
    (await openByteSink(folder.file(name))).discard!();
    assert.equal(Deno.readTextFileSync(folder.file(name)), "before");
  }
  for (const name of ["new.json", "new.json.gz"]) (await openByteSink(folder.file(name))).discard!();
  await write(folder.file("old.json"), []);
  assert.deepEqual([...Deno.readDirSync(folder.path)].map(({ name }) => name).sort(), ["old.json", "old.json.gz"]);
  assert.equal(Deno.readTextFileSync(folder.file("old.json")), "", "a run that had nothing to say said so");
});

Deno.test("a new file to which another run has added meanwhile stays where this one writes nothing", async () => {
  using folder = temporary();
  for (const name of ["a.jsonl", "a.jsonl.gz"]) {
    const path = folder.file(name), sink = await sinkTo(RegularFile.create(path, null, name.endsWith(".gz") ? "change" : "grow"), true);
    await add(path, "{}\n");
    const { size } = Deno.statSync(path);
    sink.discard!();
    assert.equal(Deno.statSync(path).size, size);
  }
});

Deno.test("a compressed file of nothing is one that decompresses to nothing", () => {
  const sink = new MemorySink();
  new GzipSink(sink).close();
  assert.equal(gunzipSync(sink.bytes()).length, 0);
  assert.equal(sink.closed, 1);
});

Deno.test("a path that cannot be written fails when it is opened", async () => {
  using folder = temporary();
  await assert.rejects(openByteSink(folder.file("missing/trace.pftrace")), { code: "ENOENT" });
});

Deno.test("the format follows from the end of the name", async () => {
  const ends = ["a.pftrace", "a.json", "a.jsonl", "a.pftrace.gz", "a.json.gz", "x.y.jsonl.gz", "a.txt", "a.gz", "json", "a.json.bz2"];
  assert.deepEqual(ends.map((path) => formatOf(path)?.extension), [
    ...[".pftrace", ".json", ".jsonl", ".pftrace", ".json", ".jsonl"],
    ...[undefined, undefined, undefined, undefined],
  ]);
  assert.deepEqual([isGzip("a.json.gz"), isGzip("a.json")], [true, false]);
  for (const format of formats) assert.equal(typeof await format.load(), "function");
});

await judged("trace_processor opens what was compressed", async () => {
  using folder = temporary();
  const path = folder.file("trace.pftrace.gz");
  await write(path, exported(openPerfetto, head, spans).blocks);
  assert.deepEqual(await query(path, "select count(*) as n from slice where category = 'ggml.op'"), [{ n: 10n }]);
  assert.deepEqual(await errors(path), []);
});

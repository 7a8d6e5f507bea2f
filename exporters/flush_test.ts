import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import type { ByteSink } from "../lib/events/exporter.ts";
import { singly } from "../lib/events/chain.ts";
import type { Span } from "../lib/events/span.ts";
import { Tracks } from "../lib/events/tracks.ts";
import { RegularFile } from "../lib/machine/regular_file.ts";
import { smallDisk } from "../tests/harness/small_disk.ts";
import { temporary } from "../tests/harness/temporary.ts";
import { head, spans } from "../tests/judge/corpus.ts";
import { told, toldBySql } from "../tests/judge/told.ts";
import { errors, judged, query } from "../tests/judge/trace_processor.ts";
import { isWhole } from "../tests/judge/unpacked.ts";
import { openByteSink } from "./file.ts";
import { formatOf, formats } from "./formats.ts";

/** Operators of which a `.pftrace` is compressed in more than two pieces. */
const forTwoPackets = 250_007;

/** The corpus, and operators enough for several blocks, whose arguments are shared as those of a tensor are. */
function* many(operators = 20_011): Iterable<Span> {
  yield* spans;
  const lane = new Tracks().lane(7, "worker 0");
  const args = Array.from({ length: 7 }, (_, i) => ({ tensor: `blk.${i}.ffn_up`, layer: i }));
  for (let i = 0; i < operators; i++) {
    yield { type: "slice", track: lane, name: `op ${i % 3}`, category: "ggml.op", start: 1000 * i, end: 1000 * i + 999, args: args[i % 7]! };
  }
}

for (const { extension, load } of formats) {
  Deno.test(`${extension}: flushing at any time changes nothing of what is written in the end`, async () => {
    using folder = temporary();
    const open = await load();
    for (const name of [`t${extension}`, `t${extension}.gz`]) {
      const write = async (path: string, flushAfter: (span: number) => boolean) => {
        const exporter = open(await openByteSink(path), head);
        let at = 0;
        for (const span of many(extension === ".pftrace" ? forTwoPackets : undefined)) {
          exporter.span(span);
          if (flushAfter(at++)) exporter.flush();
        }
        exporter.close([]);
        return Deno.readFileSync(path);
      };
      const [plain, flushed] = [await write(folder.file(name), () => false), await write(folder.file(`f-${name}`), (i) => i < 60 || i % 997 === 0)];
      assert.equal(plain.length, flushed.length, name);
      assert.ok(plain.every((byte, i) => byte === flushed[i]), name);
    }
  });
}

Deno.test("between two flushes of a live run a file can be read as it was at the first", async () => {
  using folder = temporary();
  for (const { extension, load } of formats) {
    for (const name of [`t${extension}`, `t${extension}.gz`]) {
      const path = folder.file(name);
      const exporter = (await load())(await openByteSink(path), head);
      const read = () => {
        const bytes = Deno.readFileSync(path);
        return name.endsWith(".gz") ? gunzipSync(bytes) : bytes;
      };
      let flushed: Uint8Array | undefined, at = 0;
      for (const span of many(6007)) {
        exporter.span(span);
        if (at++ === 1000) {
          exporter.flush();
          flushed = read();
        }
      }
      const now = read();
      // Packets may follow; what is text, or compressed, has an end behind what was flushed.
      assert.deepEqual(now.subarray(0, flushed!.length), flushed, name);
      assert.ok(name.endsWith(".pftrace") || now.length === flushed!.length, name);
      exporter.close([]);
    }
  }
});

/** Calls `look` after each call of the system that changes a file. */
function watched(look: () => void, write: () => void): void {
  const { writeAt, truncate } = RegularFile.prototype;
  try {
    RegularFile.prototype.writeAt = function (...args) {
      writeAt.apply(this, args);
      look();
    };
    RegularFile.prototype.truncate = function (...args) {
      truncate.apply(this, args);
      look();
    };
    write();
  } finally {
    Object.assign(RegularFile.prototype, { writeAt, truncate });
  }
}

Deno.test("between any two calls of the system a file has an end", async () => {
  using folder = temporary();
  const text = (parse: (text: string) => void) => (bytes: Uint8Array) => parse(new TextDecoder().decode(bytes));
  for (
    const [name, read] of [
      ["t.json", text(JSON.parse)],
      ["t.jsonl", text((lines) => lines.split("\n").map((line) => line && JSON.parse(line)))],
      ["t.pftrace", (bytes: Uint8Array) => assert.ok(isWhole(bytes))],
    ] as const
  ) {
    for (const gz of ["", ".gz"]) {
      const path = folder.file(name + gz), exporter = (await formatOf(path)!.load())(await openByteSink(path), head);
      exporter.flush();
      let calls = 0;
      const look = () => {
        const bytes = Deno.readFileSync(path);
        read(gz ? gunzipSync(bytes) : bytes);
        calls++;
      };
      watched(look, () => {
        for (const span of spans) {
          exporter.span(span);
          exporter.flush();
        }
        exporter.close([]);
      });
      assert.ok(calls >= spans.length, `${calls} calls for ${spans.length} spans`);
    }
  }
});

Deno.test("between any two calls of the system a .pftrace has whole packets, when some are compressed too", async () => {
  using folder = temporary();
  const path = folder.file("t.pftrace"), exporter = (await formatOf(path)!.load())(await openByteSink(path), head);
  const sizes: number[] = [];
  const look = () => {
    const bytes = Deno.readFileSync(path);
    assert.ok(isWhole(bytes), `after ${sizes.length} calls, of ${bytes.length} bytes`);
    sizes.push(bytes.length);
  };
  watched(look, () => {
    let at = 0;
    for (const span of many(forTwoPackets)) {
      exporter.span(span);
      if (at++ % 9973 === 0) exporter.flush();
    }
    exporter.close([]);
  });
  // What takes the place of packets is there before they are cut off.
  const cut = sizes.filter((size, i) => size < (sizes[i - 1] ?? 0) / 2);
  assert.ok(cut.length > 2, `${cut.length} blocks`);
});

Deno.test("a replay is fast: between any two calls of the system a .pftrace.gz has an end, however much comes between two flushes", async () => {
  using folder = temporary();
  const path = folder.file("t.pftrace.gz"), exporter = (await formatOf(path)!.load())(await openByteSink(path), head);
  exporter.flush();
  let calls = 0;
  const look = () => {
    assert.ok(isWhole(gunzipSync(Deno.readFileSync(path))), `after ${calls} calls`);
    calls++;
  };
  watched(look, () => {
    // Of which little is alike.
    let bytes = 1;
    for (const span of many(120_000)) {
      bytes = bytes * 48_271 % 0x7fffffff;
      exporter.span(span.type === "slice" ? { ...span, args: { bytes, flops: bytes ** 2 % 0xffffff } } : span);
    }
    exporter.close([]);
  });
  assert.ok(calls > 2, `${calls} calls`);
});

/** What trace_processor opens as it is. */
const traces = [".pftrace", ".json"];

for (const { extension, load } of formats.filter(({ extension }) => traces.includes(extension))) {
  await judged(`${extension}: after each flush the file opens and tells all spans so far`, async () => {
    using folder = temporary();
    const open = await load();
    const path = folder.file(`t${extension}`);
    const exporter = open(await openByteSink(path), head);
    exporter.flush();
    assert.deepEqual(await errors(path), []);
    for (const [i, span] of spans.entries()) {
      exporter.span(span);
      if (i % 5 !== 4) continue;
      exporter.flush();
      const origin = extension === ".json" ? BigInt(JSON.parse(Deno.readTextFileSync(path)).otherData.clockBase) : undefined;
      assert.deepEqual(await toldBySql(path, origin), told(spans.slice(0, i + 1)), `${i + 1} spans`);
      assert.deepEqual(await errors(path), []);
    }
    exporter.close([]);
  });
}

Deno.test(".jsonl: after each flush there are whole lines, one a span", async () => {
  using folder = temporary();
  const path = folder.file("t.jsonl");
  const exporter = (await formats.find(({ extension }) => extension === ".jsonl")!.load())(await openByteSink(path), head);
  let lines = 1;
  for (const span of spans) {
    exporter.span(span);
    exporter.flush();
    lines += singly(span).length;
    assert.equal(Deno.readTextFileSync(path).trimEnd().split("\n").map((line) => JSON.parse(line)).length, lines);
  }
});

for (const [name, operators, every] of [["t.pftrace", forTwoPackets, 60_013], ["t.pftrace.gz", 20_011, 5003]] as const) {
  await judged(`a compressed ${name} is whole after each flush`, async () => {
    using folder = temporary();
    const path = folder.file(name);
    const { openPerfetto } = await import("./perfetto.ts");
    const exporter = openPerfetto(await openByteSink(path), head);
    let at = 0;
    for (const span of many(operators)) {
      exporter.span(span);
      if (++at % every !== 0) continue;
      exporter.flush();
      if (name.endsWith(".gz")) gunzipSync(Deno.readFileSync(path));
      const [row] = await query(path, "select count(*) as n from slice where name glob 'op [0-9]*'");
      assert.equal(Number(row!.n), at - spans.length);
      assert.deepEqual(await errors(path), []);
    }
    exporter.close([]);
    assert.ok(Deno.statSync(path).size < 6 * operators);
  });
}

Deno.test("ten thousand tracks: what waits, and with it a tail, stays bounded", async () => {
  const { openPerfetto } = await import("./perfetto.ts");
  let largest = 0;
  const sink: ByteSink = { write: (_, tail) => void (largest = Math.max(largest, tail?.length ?? 0)), close() {} };
  const exporter = openPerfetto(sink, head);
  const tracks = new Tracks();
  for (let i = 0; i < 200_003; i++) {
    exporter.span({ type: "slice", track: tracks.thread(7, 100 + i % 10_007), name: "op", category: "ggml.op", start: 10 * i, end: 10 * i + 10 });
    if (i % 10_007 === 0) exporter.flush();
  }
  assert.ok(largest < 1 << 20, `${largest} bytes`);
});

Deno.test("a file that is removed while it is written takes no more, and one whose tail grows shorter ends where it does", async () => {
  using folder = temporary();
  const path = folder.file("t.jsonl");
  const text = (bytes: string) => new TextEncoder().encode(bytes);
  const sink = await openByteSink(path);
  sink.write(text("one "), text("and a long tail"));
  sink.write(text("two "));
  assert.equal(Deno.readTextFileSync(path), "one two ");
  const none = text("");
  sink.write(none, text("longer"));
  sink.write(none, text("tail"));
  assert.equal(Deno.readTextFileSync(path), "one two tail");
  Deno.removeSync(path);
  assert.throws(() => sink.write(none, text("more")), /It was removed while it was written/);
  assert.throws(() => sink.close(), /It was removed while it was written/);
});

/** What a disk of 64 KiB keeps, when one write is too much for it: the same as after the last tail that it had room for. */
Deno.test({
  name: "a file on a disk that is full is put back to what the last tail left",
  ignore: Deno.uid() !== 0,
  async fn() {
    using disk = smallDisk(64);
    const path = disk.file("t.jsonl");
    const sink = await openByteSink(path);
    const [none, much, more] = [0, 26_000, 30_000].map((size) => new Uint8Array(size).fill(67)) as [Uint8Array, Uint8Array, Uint8Array];
    sink.write(new Uint8Array(40_000).fill(65), new Uint8Array(10_000).fill(66));
    for (const put of [() => sink.write(more), () => sink.write(none, much), () => sink.write(much.subarray(0, 13_000), much.subarray(0, 13_000))]) {
      assert.throws(put, /os error 28/);
      const kept = Deno.readFileSync(path);
      assert.deepEqual([kept.length, kept[39_999], kept[40_000], kept[49_999]], [50_000, 65, 66, 66], String(put));
    }
    // A block that fits, and then no room for what ends the file behind it.
    sink.write(new Uint8Array(8000).fill(68));
    assert.throws(() => sink.write(none, much), /os error 28/);
    const kept = Deno.readFileSync(path);
    assert.deepEqual([kept.length, kept[39_999], kept[40_000], kept[49_999]], [50_000, 65, 66, 66]);
    sink.close();
  },
});

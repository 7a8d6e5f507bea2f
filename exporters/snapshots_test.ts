import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { ioSnapshotSchema, schedSnapshotSchema } from "../lib/analysis/snapshots_schema.ts";
import type { IntervalTotals, Span } from "../lib/events/span.ts";
import { Tracks } from "../lib/events/tracks.ts";
import { RegularFile } from "../lib/machine/regular_file.ts";
import { temporary } from "../tests/harness/temporary.ts";
import { openByteSink } from "./file.ts";
import { openSnapshots } from "./snapshots.ts";

const run = new Tracks().run();
const SECOND = 1e9;

const clock = { name: "boottime", base: 1_000_000_000_000n, realtimeOffset: 1_700_000_000_000_000_000n } as const;
const head = { clock, llmprof: "1", command: "io", facts: { devices: "7:0 loop0,8:0 sda" } };

/** What is written, write by write, and how often it was brought to the disk. */
function written(spans: readonly Span[], flushEvery = 1, fsync = false) {
  const writes: string[] = [];
  let syncs = 0;
  const sink = { write: (bytes: Uint8Array) => void writes.push(new TextDecoder().decode(bytes)), sync: () => void syncs++, close() {} };
  const exporter = openSnapshots({ flushEvery, fsync })(sink, head);
  for (const span of spans) exporter.span(span);
  exporter.flush();
  const before = [...writes];
  exporter.close([]);
  return { before, lines: writes.join("").trimEnd().split("\n").map((line) => JSON.parse(line)), writes, syncs };
}

const opened: Span = { type: "mark", kind: "window", at: 0, stream: "process", text: "", open: true };
const told = (at: number, totals: IntervalTotals): Span => ({ type: "instant", track: run, name: "", category: "totals", at: at * SECOND, totals });

Deno.test("snapshots: requests of an interval, in exactly these fields", () => {
  const latency = [{ device: "7:0", slot: 7, count: 3 }, { device: "7:0", slot: 0, count: 1 }, { device: "9:9", slot: 2, count: 1 }];
  const { lines } = written([opened, told(5, { latency, inflight: [{ device: "7:0", count: 2 }] }), told(7.5, { latency: [], inflight: [] })]);
  assert.deepEqual(lines[0], {
    timestamp: 1_700_001_005,
    iso_timestamp: "2023-11-14T22:30:05.000000+00:00",
    interval_s: 5,
    latency_histogram: [
      {
        device_name: "loop0",
        total: 4,
        buckets: [{ slot: 0, count: 1, bucket_low: 1, bucket_high: 1 }, { slot: 7, count: 3, bucket_low: 128, bucket_high: 255 }],
      },
      { device_name: "9:9", total: 1, buckets: [{ slot: 2, count: 1, bucket_low: 4, bucket_high: 7 }] },
    ],
    inflight: [{ device_name: "loop0", count: 2 }],
  });
  assert.deepEqual(lines.map((line) => ioSnapshotSchema.parse(line).interval_s), [5, 2.5]);
});

Deno.test("snapshots: where the wall clock is set, lines behind that have the time that it says, and intervals are as long as they were", () => {
  const none = { latency: [], inflight: [] };
  const { lines } = written([opened, told(5, none), told(10, { ...none, wallShiftMs: 3_600_000 }), told(15, { ...none, wallShiftMs: -1000 })]);
  assert.deepEqual(lines.map(({ timestamp, interval_s }) => [timestamp - 1_700_001_000, interval_s]), [[5, 5], [3610, 5], [14, 5]]);
  assert.equal(lines[1].iso_timestamp, "2023-11-14T23:30:10.000000+00:00");
});

Deno.test("snapshots: another turn begins with its own window, and a disk that came meanwhile has the name that it has then", () => {
  const { lines } = written([
    opened,
    told(5, { latency: [], inflight: [] }),
    { ...opened, at: 60 * SECOND },
    told(65, { latency: [], inflight: [{ device: "7:0", count: 1 }, { device: "259:7", count: 2 }], names: new Map([["259:7", "nvme2n1"]]) }),
  ]);
  assert.deepEqual(lines.map(({ interval_s }) => interval_s), [5, 5]);
  assert.deepEqual(lines[1].inflight, [{ device_name: "loop0", count: 1 }, { device_name: "nvme2n1", count: 2 }]);
});

Deno.test("snapshots: two ways to one disk, which have its name, are one", () => {
  const latency = [{ device: "259:0", slot: 7, count: 3 }, { device: "259:2", slot: 7, count: 4 }, { device: "259:2", slot: 1, count: 5 }];
  const inflight = [{ device: "259:0", count: 2 }, { device: "259:2", count: 7 }, { device: "7:0", count: 1 }];
  const names = new Map([["259:0", "nvme0n1"], ["259:2", "nvme0n1"]]);
  const [line] = written([opened, told(5, { latency, inflight, names })]).lines;
  assert.deepEqual(line.latency_histogram, [{
    device_name: "nvme0n1",
    total: 12,
    buckets: [{ slot: 1, count: 5, bucket_low: 2, bucket_high: 3 }, { slot: 7, count: 7, bucket_low: 128, bucket_high: 255 }],
  }]);
  assert.deepEqual(line.inflight, [{ device_name: "nvme0n1", count: 9 }, { device_name: "loop0", count: 1 }]);
});

Deno.test("snapshots: processes of an interval, and what the kernel says of pressure", () => {
  const stalls = { avg10: 1.5, avg60: 0, avg300: 0, total: 12345 };
  const pressure = { cpu: { some: stalls, full: null }, io: { some: stalls, full: stalls }, memory: { some: null, full: null } };
  const totals = { offCpuNs: new Map([[12, 3e9]]), pageFaults: new Map([[12, 7], [13, 1]]), processNames: new Map([[12, "node"]]), pressure };
  const { lines } = written([opened, told(5, totals)]);
  const { off_cpu_ns, page_faults, names } = lines[0];
  assert.deepEqual([off_cpu_ns, page_faults, lines[0].pressure, names], [{ 12: 3e9 }, { 12: 7, 13: 1 }, pressure, { 12: "node" }]);
  schedSnapshotSchema.parse(lines[0]);
});

Deno.test("snapshots: so many lines at a time, each time on the disk where that is asked for, and the rest at the end", () => {
  const spans = [opened, ...[1, 2, 3, 4, 5].map((at) => told(at, { latency: [], inflight: [] }))];
  const { before, writes, lines, syncs } = written(spans, 2, true);
  assert.deepEqual([before.length, writes.length, lines.length, syncs], [2, 3, 5, 3]);
  assert.equal(written(spans).syncs, 0);
});

Deno.test("snapshots: each line is in a compressed file, and on the disk, when its interval has ended", async () => {
  using folder = temporary();
  const path = folder.file("s.jsonl.gz"), { sync } = RegularFile.prototype;
  const exporter = openSnapshots({ flushEvery: 1, fsync: true })(await openByteSink(path), head);
  const lines = () => gunzipSync(Deno.readFileSync(path)).toString().split("\n").slice(0, -1).map((line) => ioSnapshotSchema.parse(JSON.parse(line)));
  const onDisk: number[] = [];
  try {
    RegularFile.prototype.sync = function () {
      sync.apply(this);
      onDisk.push(lines().length);
    };
    for (const span of [opened, told(5, { latency: [], inflight: [] }), told(10, { latency: [], inflight: [] })]) exporter.span(span);
  } finally {
    RegularFile.prototype.sync = sync;
  }
  assert.deepEqual(onDisk, [1, 2]);
  exporter.close([]);
  assert.deepEqual(lines().map(({ timestamp }) => timestamp), [1_700_001_005, 1_700_001_010]);
});

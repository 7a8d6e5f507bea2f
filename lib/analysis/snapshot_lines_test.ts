import assert from "node:assert/strict";
import { seeded } from "../../tests/harness/spans.ts";
import { IO_LINES, SCHED_LINES, SnapshotLines } from "./snapshot_lines.ts";
import { SnapshotReport } from "./snapshot_report.ts";
import type { IoSnapshot, SchedSnapshot } from "./snapshots_schema.ts";

const START = 1_700_000_000, LINES = 5000, PIDS = 300, MOST = 240;

const time = (end: number, seconds = 5) => ({ timestamp: START + end, iso_timestamp: "", interval_s: seconds });

/** Each line of other processes, a hundred at a time, and of a kernel that has stalled for a tenth of the time. */
function schedLine(i: number, random: (below: number) => number, offset = 0): SchedSnapshot {
  const off: Record<string, number> = {}, faults: Record<string, number> = {};
  for (let k = 0; k < 100; k++) off[(i * 7 + k) % PIDS + 100] = random(5e9);
  faults[i % PIDS + 100] = random(100);
  const some = { avg10: 0, avg60: 0, avg300: 0, total: i * 5e5 };
  const names = { [i % PIDS + 100]: `name ${i % 4}` };
  return {
    ...time((i + 1) * 5 + offset),
    off_cpu_ns: off,
    page_faults: faults,
    names,
    pressure: { cpu: { some, full: null }, io: null, memory: null },
  };
}

function sumOf(lines: readonly SchedSnapshot[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { off_cpu_ns } of lines) for (const [pid, ns] of Object.entries(off_cpu_ns)) sums.set(pid, (sums.get(pid) ?? 0) + ns);
  return sums;
}

const ordered = (map: Map<string, number>) => [...map].sort(([a], [b]) => Number(a) - Number(b));

Deno.test("lines: never more are held than asked for, whatever they tell is in them, and they cover the time that they did", () => {
  const random = seeded(3), held = new SnapshotLines(SCHED_LINES, MOST), all: SchedSnapshot[] = [];
  for (let i = 0; i < LINES; i++) {
    all.push(schedLine(i, random));
    held.add(all.at(-1)!, "file");
    assert.ok(held.held <= MOST, `${held.held} after ${i + 1}`);
  }
  const lines = held.files.get("file");
  assert.deepEqual(ordered(sumOf(lines!)), ordered(sumOf(all)));
  let end = START;
  for (const { timestamp, interval_s } of lines!) {
    assert.equal(timestamp - interval_s, end);
    end = timestamp;
    assert.ok(interval_s <= 4 * 5 * LINES / MOST, `${interval_s} s`);
  }
  assert.equal(end, START + 5 * LINES);
});

Deno.test("lines: a report of many that are put together says the same as one of all, of one run and of two that went on at once", () => {
  for (const offsets of [[0], [0, 2]]) {
    const random = seeded(5), few = new SnapshotReport(MOST), all = new SnapshotReport(Infinity);
    for (let i = 0; i < LINES / 2; i++) {
      for (const offset of offsets) {
        const line = schedLine(i, random, offset);
        for (const report of [few, all]) report.sched(line, `file ${offset}`);
      }
    }
    assert.deepEqual(few.result(), all.result());
    assert.deepEqual(drawn(few), drawn(all));
  }
});

/** Seconds off a processor in all of the course, by process. */
function drawn(report: SnapshotReport): string[] {
  const { intervals, series } = report.charts().find(({ title }) => /^Threads/.test(title))!;
  const lengths = intervals.map(([begin, end]) => (end - begin) / 1000);
  return series.map(({ name, values }) => `${name}: ${values.reduce<number>((sum, value, i) => sum + value! * lengths[i]!, 0).toFixed(3)}`);
}

Deno.test("lines: the most in flight, and requests by device and time, of all that are put together", () => {
  const random = seeded(7), held = new SnapshotLines(IO_LINES, MOST), few = new SnapshotReport(MOST), all = new SnapshotReport(Infinity);
  for (let i = 0; i < LINES; i++) {
    const device_name = ["vda", "sda", "sdb"][random(3)]!;
    const buckets = [random(4), 4 + random(4)].map((slot) => ({
      slot,
      count: 1 + random(9),
      bucket_low: 2 ** slot,
      bucket_high: 2 ** (slot + 1) - 1,
    }));
    const total = buckets.reduce((sum, { count }) => sum + count, 0);
    const line: IoSnapshot = {
      ...time((i + 1) * 5),
      latency_histogram: [{ device_name, total, buckets }],
      inflight: [{ device_name, count: random(1000) }],
    };
    held.add(line, "");
    for (const report of [few, all]) report.io(line);
  }
  assert.ok(held.held <= MOST);
  assert.deepEqual(few.result(), all.result());
});

Deno.test("lines: what has a pause between it, or a kernel that began anew, stays apart", () => {
  const random = seeded(9), few = new SnapshotReport(MOST), all = new SnapshotReport(Infinity);
  const held = new SnapshotLines(SCHED_LINES, MOST);
  for (let i = 0; i < LINES; i++) {
    // A hundred intervals, then nothing for a minute; and a new machine after half of them.
    const later = Math.floor(i / 100) * 60, line = schedLine(i, random, later);
    const some = { avg10: 0, avg60: 0, avg300: 0, total: i % (LINES / 2) * 5e5 + later };
    for (const report of [few, all]) report.sched({ ...line, pressure: { ...line.pressure, cpu: { some, full: null } } }, "file");
    held.add(line, "file");
  }
  const pauses = LINES / 100;
  assert.ok(held.held <= MOST + 2 * pauses, `${held.held}`);
  assert.deepEqual(few.result(), all.result());
  assert.equal(few.result().missing.pieces, pauses - 1);
});

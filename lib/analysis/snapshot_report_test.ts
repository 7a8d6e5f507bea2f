import assert from "node:assert/strict";
import { log2Quantile } from "./log2_quantile.ts";
import { SnapshotReport } from "./snapshot_report.ts";
import { presentReport } from "./snapshot_report_present.ts";
import type { IoSnapshot, SchedSnapshot } from "./snapshots_schema.ts";

const START = 1_700_000_000;

/** The interval of five seconds that ends then. `slots`: requests by power of two. */
function io(end: number, slots: Readonly<Record<number, number>>, inFlight = 0, device = "vda", seconds = 5): IoSnapshot {
  const buckets = Object.entries(slots).map(([slot, count]) => (
    { slot: Number(slot), count, bucket_low: 2 ** Number(slot), bucket_high: 2 ** (Number(slot) + 1) - 1 }
  ));
  const total = buckets.reduce((sum, { count }) => sum + count, 0);
  return {
    timestamp: START + end,
    iso_timestamp: "",
    interval_s: seconds,
    latency_histogram: [{ device_name: device, total, buckets }],
    inflight: [{ device_name: device, count: inFlight }],
  };
}

/** `stalled`: microseconds since the machine began, of some. */
function sched(end: number, offCpuNs: Record<string, number>, faults: Record<string, number> = {}, stalled?: number, seconds = 5): SchedSnapshot {
  const some = stalled === undefined ? null : { avg10: 0, avg60: 0, avg300: 0, total: stalled };
  const pressure = { cpu: { some, full: null }, io: { some: null, full: null }, memory: null };
  return { timestamp: START + end, iso_timestamp: "", interval_s: seconds, off_cpu_ns: offCpuNs, page_faults: faults, pressure };
}

function reportOf(...files: { readonly io?: readonly IoSnapshot[]; readonly sched?: readonly SchedSnapshot[] }[]): SnapshotReport {
  const report = new SnapshotReport();
  for (const [i, { io = [], sched = [] }] of files.entries()) {
    for (const line of io) report.io(line);
    for (const line of sched) report.sched(line, `file ${i}`);
  }
  return report;
}

const courses = (report: SnapshotReport, title: RegExp) => {
  const chart = report.charts().find((chart) => title.test(chart.title))!;
  return Object.fromEntries(chart.series.map(({ name, values }) => [name, values]));
};

const rounded = (course: readonly (number | null)[]) => course.map((value) => value === null ? null : Math.round(value * 1e6) / 1e6);

Deno.test("quantile of powers of two: the upper end of the one in which the request of that rank is", () => {
  const slots = new Map([[7, 98], [3, 1], [12, 1]]);
  assert.equal(log2Quantile(slots, 0.01), 16_000);
  assert.equal(log2Quantile(slots, 0.5), 256_000);
  assert.equal(log2Quantile(slots, 0.99), 256_000);
  assert.equal(log2Quantile(slots, 1), 8_192_000);
  assert.equal(log2Quantile(new Map(), 0.5), null);
  // A thousandth of each.
  const parts = new Map([...slots].map(([slot, count]) => [slot, count / 1000]));
  assert.deepEqual([0.005, 0.5, 0.995].map((q) => log2Quantile(parts, q)), [16_000, 256_000, 8_192_000]);
});

Deno.test("report: time of which no line tells is told", () => {
  const missing = (...ends: number[]) => reportOf({ io: ends.map((end) => io(end, {})), sched: [sched(5, {}), sched(10, {})] }).result().missing;
  assert.deepEqual(missing(5, 10.1, 15), { pieces: 0, seconds: 0 });
  assert.deepEqual(missing(5, 3605, 3610, 3620), { pieces: 2, seconds: 3595 + 5 });
  const notes = presentReport(reportOf({ sched: [sched(5, {}), sched(3605, {})] }).result()).flatMap((view) => view.type === "note" ? view.text : []);
  assert.match(notes.join(), /^Of 3595\.0 s between, in one piece, nothing was written/);
});

Deno.test("report: requests of several intervals, whatever order they come in, and none where no device answered", () => {
  const report = reportOf({ io: [io(10, {}, 3), io(5, { 4: 10 }, 1), io(10, { 9: 1 }, 0, "sda")] });
  const { from, to, devices } = report.result();
  assert.deepEqual([from, to], [START, START + 10]);
  assert.deepEqual(devices, [
    { device: "vda", requests: 10, p50Ns: 32_000, p99Ns: 32_000, mostInFlight: 3 },
    { device: "sda", requests: 1, p50Ns: 1_024_000, p99Ns: 1_024_000, mostInFlight: 0 },
  ]);
  assert.deepEqual(courses(report, /^Latency/)["vda p99"], [32_000, null]);
  assert.deepEqual(courses(report, /^Requests$/), { vda: [2, 0], sda: [0, 0.2] });
  assert.deepEqual(courses(report, /in flight/), { vda: [1, 3], sda: [null, 0] });
});

Deno.test("report: threads off a processor and faults by process, the rest of many processes in one", () => {
  const many = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [String(100 + i), (i + 1) * 1e9]));
  const report = reportOf({ sched: [sched(5, many, { "7": 50 }), sched(10, { "109": 5e9 })] });
  const { processes } = report.result();
  assert.deepEqual(processes[0], { pid: "109", name: null, offCpuNs: 15e9, pageFaults: 0 });
  assert.deepEqual(processes.at(-1), { pid: "7", name: null, offCpuNs: 0, pageFaults: 50 });
  const off = courses(report, /^Threads/);
  assert.deepEqual(off["109"], [2, 1]);
  assert.deepEqual(off["2 others"], [(1 + 2) / 5, 0]);
  assert.equal(Object.keys(off).length, 9);
  assert.deepEqual(courses(report, /faults/), { "7": [10, 0] });
});

Deno.test("report: pressure is the time that was stalled between two lines, and nothing where the kernel began to count anew", () => {
  const report = reportOf({ sched: [sched(5, {}, {}, 1e6), sched(10, {}, {}, 2e6), sched(15, {}, {}, 0), sched(20, {}, {}, 5e6)] });
  assert.deepEqual(courses(report, /^Pressure/), { "cpu, some": [null, 0.2, null, 1] });
  const { pressure } = report.result();
  assert.deepEqual(pressure.cpu, { some: 0.6, full: null });
  assert.deepEqual(pressure.memory, { some: null, full: null });
});

Deno.test("report: of thousands of intervals some are drawn as one, and nothing is left out", () => {
  const lines = Array.from({ length: 1234 }, (_, i) => io((i + 1) * 5, { 5: i === 700 ? 1000 : 1 }, i === 701 ? 9 : 0));
  const report = reportOf({ io: lines });
  const [chart] = report.charts();
  assert.equal(chart!.intervals.length, Math.ceil(1234 / 3));
  assert.deepEqual([chart!.intervals[0], chart!.intervals.at(-1)], [[START * 1000, (START + 15) * 1000], [
    (START + 1233 * 5) * 1000,
    (START + 1234 * 5) * 1000,
  ]]);
  const rates = courses(report, /^Requests$/).vda!;
  assert.equal(Math.round(rates.reduce<number>((sum, rate, i) => sum + rate! * (i === 411 ? 5 : 15), 0)), 1233 + 1000);
  assert.equal(Math.max(...courses(report, /in flight/).vda!.map(Number)), 9);
});

Deno.test("report: courses of runs that went on at once are their sum at each moment, whenever each began and however long its intervals are", () => {
  // Ten requests a second, thirty, and two, each evenly.
  const first = Array.from({ length: 12 }, (_, i) => io((i + 1) * 5, { 4: 50 }, 1));
  const second = Array.from({ length: 12 }, (_, i) => io((i + 1) * 5 + 2, { 9: 150 }, 2));
  const rare = [io(60, { 4: 120 }, 0, "sda", 60)];
  const report = reportOf({ io: [...first, ...second, ...rare] });
  const [chart] = report.charts(), { vda, sda } = courses(report, /^Requests$/);
  const begins = chart!.intervals.map(([begin]) => begin / 1000 - START), ends = chart!.intervals.map(([, end]) => end / 1000 - START);
  assert.deepEqual([begins.slice(0, 3), begins.slice(1), ends.slice(-2)], [[0, 5, 10], ends.slice(0, -1), [60, 62]]);
  const [FIRST, LAST] = [0, 60];
  assert.deepEqual(rounded(vda!), begins.map((begin) => begin === FIRST ? 10 + 30 * 3 / 5 : begin === LAST ? 30 : 40));
  assert.deepEqual(rounded(sda!), begins.map((begin) => begin === LAST ? 0 : 2));
  // Those of the second run as each of its intervals ends: the first one does behind the first stretch.
  assert.deepEqual(courses(report, /in flight/).vda, begins.map((begin) => begin === FIRST ? 1 : 2));
  assert.deepEqual(courses(report, /^Latency/)["vda p50"], begins.map(() => 1_024_000));
  assert.deepEqual(report.result().devices.map(({ device, requests }) => [device, requests]), [["vda", 2400], ["sda", 120]]);
});

Deno.test("report: requests in flight are those of the moment at which an interval ends, however long it is", () => {
  const often = Array.from({ length: 13 }, (_, i) => io((i + 1) * 5, { 4: 50 }, i === 3 ? 9 : 1)),
    END = 61,
    LATE = 7,
    rare = io(END, {}, LATE, "vda", 60);
  const report = reportOf({ io: [...often, rare, io(60, {}, 4, "sda", 60)] });
  const ends = report.charts()[0]!.intervals.map(([, end]) => end / 1000 - START), { vda, sda } = courses(report, /in flight/);
  assert.deepEqual(vda, ends.map((end) => end === 20 ? 9 : end >= END ? LATE : 1));
  assert.deepEqual(sda, ends.map((end) => end === 60 ? 4 : null));
  assert.deepEqual(report.result().devices.map(({ mostInFlight }) => mostInFlight), [9, 4]);
});

Deno.test("report: of runs that went on at once for long, the rate is of the time that passed and not of that of all their intervals", () => {
  const run = (offset: number) =>
    Array.from({ length: 2000 }, (_, i) => sched((i + 1) * 5 + offset, { "7": 2.5e9 }, { "7": 5 }, (i * 5 + offset) * 1e5));
  const report = reportOf({ sched: [...run(0), ...run(2)] });
  const { pressure, processes } = report.result();
  assert.ok(report.charts()[0]!.intervals.length <= 600);
  const inside = (title: RegExp, name: string) => courses(report, title)[name]!.slice(1, -1);
  assert.deepEqual(new Set(rounded(inside(/^Threads/, "7"))), new Set([1]));
  assert.deepEqual(new Set(rounded(inside(/faults/, "7"))), new Set([2]));
  assert.deepEqual(new Set(rounded(inside(/^Pressure/, "cpu, some"))), new Set([0.1]));
  assert.equal(Math.round(pressure.cpu.some! * 1e4), 1000);
  assert.deepEqual(processes.map(({ offCpuNs, pageFaults }) => [offCpuNs, pageFaults]), [[2 * 2000 * 2.5e9, 2 * 2000 * 5]]);
});

Deno.test("report: pressure is of each run's own intervals, and the time of a long one is not missing where another run wrote nothing", () => {
  // Two machines: the kernel of the second counts from elsewhere.
  const one = [1, 2, 3].map((i) => sched(i * 5, {}, {}, i * 5e5));
  const other = (offset: number) => [1, 2, 3].map((i) => sched(i * 5 + offset, {}, {}, 9e9 + i * 5e5));
  const pressure = (report: SnapshotReport) => [rounded(courses(report, /^Pressure/)["cpu, some"]!), report.result().pressure.cpu.some!.toFixed(3)];
  assert.deepEqual(pressure(reportOf({ sched: [...one, ...other(2)] })), [[null, 0.1, 0.1, 0.1], "0.100"]);
  assert.deepEqual(pressure(reportOf({ sched: one }, { sched: other(2) })), [[null, 0.1, 0.1, 0.1], "0.100"]);
  // Where both tell at the same moments only the file says whose a line is.
  assert.deepEqual(pressure(reportOf({ sched: other(0) }, { sched: one })), [[null, 0.1, 0.1], "0.100"]);
  const long = reportOf({ io: [io(5, {}), io(60, {}), io(62, {}, 0, "sda", 58)] });
  assert.deepEqual(long.result().missing, { pieces: 0, seconds: 0 });
});

Deno.test("report: clocks that are told rounded leave no stretch of their own between two intervals, and time that nobody tells of has none", () => {
  const report = reportOf({ io: [io(5, { 4: 5 }, 1), io(10.000001, { 9: 5 }, 2, "vda", 5.000002), io(70, { 4: 5 }, 3)] });
  assert.deepEqual(courses(report, /in flight/).vda, [1, 2, 3]);
  assert.deepEqual(courses(report, /^Latency/)["vda p99"], [32_000, 1_024_000, 32_000]);
  assert.deepEqual(report.charts()[0]!.intervals.map(([, end]) => Math.round(end / 1000 - START)), [5, 10, 70]);
});

Deno.test("report: weeks of intervals are as many as they are", () => {
  const lines = Array.from({ length: 300_000 }, (_, i) => io((i + 1) * 5, { 5: 1 }, i % 7));
  const report = reportOf({ io: lines }), { from, to, devices } = report.result();
  assert.deepEqual([from, to, devices[0]!.requests, devices[0]!.mostInFlight], [START, START + 1_500_000, 300_000, 6]);
  assert.deepEqual(new Set(rounded(courses(report, /^Requests$/).vda!)), new Set([0.2]));
});

Deno.test("report: lines that are none are said, and nothing is drawn of nothing", () => {
  const report = new SnapshotReport();
  report.unread();
  assert.deepEqual(report.charts(), []);
  assert.deepEqual([report.result().from, report.result().lines], [null, { io: 0, sched: 0, unread: 1 }]);
  assert.match(JSON.stringify(presentReport(report.result())), /1 line is no interval/);
});

Deno.test("report: a process has the last name that a line gives it, also before it did, and who has its number later is another process", () => {
  const lines = [
    sched(5, { "12": 1e9, "13": 2e9 }),
    { ...sched(10, { "12": 1e9 }), names: { "12": "sh" } },
    sched(15, { "12": 1e9 }, { "12": 7 }),
    { ...sched(20, { "12": 1e9 }), names: { "12": "python3" } },
    // It slept.
    { ...sched(30, { "12": 1e9 }), names: { "12": "python3" } },
    // Of what ended nobody says a name any more.
    sched(40, { "12": 1e9 }),
    { ...sched(45, { "12": 5e9 }, { "12": 1 }), names: { "12": "two words" } },
  ];
  const report = reportOf({ sched: lines });
  assert.deepEqual(report.result().processes, [
    { pid: "12", name: "two words", offCpuNs: 6e9, pageFaults: 1 },
    { pid: "12", name: "python3", offCpuNs: 5e9, pageFaults: 7 },
    { pid: "13", name: null, offCpuNs: 2e9, pageFaults: 0 },
  ]);
  assert.deepEqual(courses(report, /^Threads/), {
    "two words 12": [0, 0, 0, 0, 0, 0.2, 1],
    "python3 12": [0.2, 0.2, 0.2, 0.2, 0.2, 0, 0],
    "13": [0.4, 0, 0, 0, 0, 0, 0],
  });
});

Deno.test("report: who had a number before is told apart also where lines are put together", () => {
  const report = new SnapshotReport(8), half = 100;
  for (let i = 0; i < half; i++) report.sched({ ...sched((i + 1) * 5, { "12": 1e9 }), names: { "12": "one" } }, "file");
  report.sched(sched((half + 1) * 5, {}), "file");
  for (let i = 0; i < half; i++) report.sched({ ...sched((half + i + 2) * 5, { "12": 1e9 }), names: { "12": "other" } }, "file");
  assert.deepEqual(report.result().processes.map(({ name, offCpuNs }) => [name, offCpuNs / 1e9]), [["one", half], ["other", half]]);
});

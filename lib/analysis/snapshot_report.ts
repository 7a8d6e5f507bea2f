import type { Chart, Series } from "../events/view.ts";
import type { ReportResult } from "./report_schema.ts";
import type { IoSnapshot, SchedSnapshot } from "./snapshots_schema.ts";
import { log2Quantile } from "./log2_quantile.ts";
import { processKey, processOf, SnapshotProcesses } from "./snapshot_processes.ts";
import { inOrder, IO_LINES, RESOURCES, SCHED_LINES, SnapshotLines, stalledSince, STALLS } from "./snapshot_lines.ts";
import { beginOf, type Interval, type Piece, placeBefore, type Stretch, stretchesOf } from "./stretches.ts";

/** Points of a chart: more than that no picture shows. */
const MOST_POINTS = 600;
/** Lines of a kind: those that are put together are no longer than what is drawn as one. */
const MOST_LINES = 4 * MOST_POINTS;
/** Processes with a line of their own, the others are one; and devices that are drawn. */
const MOST_PROCESSES = 8, MOST_DEVICES = 8;

/** What `--snapshots` wrote, of one file or of several, told and drawn on one time axis. */
export class SnapshotReport {
  readonly #io: SnapshotLines<IoSnapshot>;
  readonly #sched: SnapshotLines<SchedSnapshot>;
  /** By file. */
  readonly #processes = new Map<string, SnapshotProcesses>();
  /** When each line was, also those that are one by now. */
  readonly #intervals = { io: [] as Interval[], sched: [] as Interval[] };
  #unread = 0;
  #all: All | null = null;

  constructor(most = MOST_LINES) {
    this.#io = new SnapshotLines(IO_LINES, most);
    this.#sched = new SnapshotLines(SCHED_LINES, most);
  }

  io(line: IoSnapshot): void {
    this.#io.add(line, "");
    this.#was(this.#intervals.io, line);
  }

  /** `file`: from which the line is. What the kernel has added up since it began is of one machine, and compared within a file. */
  sched(line: SchedSnapshot, file: string): void {
    let processes = this.#processes.get(file);
    if (!processes) this.#processes.set(file, processes = new SnapshotProcesses());
    this.#sched.add(processes.of(line), file);
    this.#was(this.#intervals.sched, line);
  }

  unread(): void {
    this.#unread++;
  }

  result(): ReportResult {
    const { io, sched, before } = this.#lines, intervals = this.#intervals;
    const all = [...intervals.io, ...intervals.sched];
    return {
      // Not as arguments of a call: weeks have more of them than fit.
      from: all.length === 0 ? null : all.reduce((from, line) => Math.min(from, beginOf(line)), Infinity),
      to: all.length === 0 ? null : all.reduce((to, { timestamp }) => Math.max(to, timestamp), 0),
      lines: { io: intervals.io.length, sched: intervals.sched.length, unread: this.#unread },
      missing: [missingOf(intervals.io), missingOf(intervals.sched)].reduce((one, other) => one.seconds >= other.seconds ? one : other),
      devices: devicesOf(io),
      processes: processesOf(sched),
      pressure: pressureOf(sched, before),
    };
  }

  charts(): Chart[] {
    const { io, sched, before } = this.#lines, stretches = stretchesOf(sched, MOST_POINTS);
    return [
      ...latencyCharts(io, stretchesOf(io, MOST_POINTS)),
      ...processCharts(sched, stretches),
      ...pressureCharts(stretches, before),
    ].filter(({ series }) => series.length > 0);
  }

  #was(intervals: Interval[], { timestamp, interval_s }: Interval): void {
    intervals.push({ timestamp, interval_s });
    this.#all = null;
  }

  get #lines(): All {
    if (this.#all) return this.#all;
    const files = [...this.#sched.files].map(([file, lines]) => lines.map((line) => this.#processes.get(file)!.named(line)));
    const io = inOrder([...this.#io.files.values()].flat());
    return this.#all = { io, sched: inOrder(files.flat()), before: new Map(files.values().flatMap(comparable)) };
  }
}

/** Lines in order of their ends. */
interface All {
  readonly io: readonly IoSnapshot[];
  readonly sched: readonly SchedSnapshot[];
  readonly before: Before;
}

/** Where nothing was written for longer than half an interval. */
function missingOf(lines: readonly Interval[]): ReportResult["missing"] {
  const asTheyBegin = lines.toSorted((a, b) => beginOf(a) - beginOf(b));
  let end = asTheyBegin[0]?.timestamp ?? 0;
  const missing = asTheyBegin.map((line) => {
    const seconds = beginOf(line) - end;
    end = Math.max(end, line.timestamp);
    return seconds > line.interval_s / 2 ? seconds : 0;
  });
  return { pieces: missing.filter((seconds) => seconds > 0).length, seconds: missing.reduce((sum, seconds) => sum + seconds, 0) };
}

function whole<Line>(lines: readonly Line[]): Piece<Line>[] {
  return lines.map((line) => ({ line, part: 1, isLast: true }));
}

function intervalsOf(stretches: readonly Stretch<Interval>[]): Chart["intervals"] {
  return stretches.map(({ begin, end }) => [begin * 1000, end * 1000]);
}

/** By slot: requests of a device. */
function slotsOf(pieces: readonly Piece<IoSnapshot>[], device: string): Map<number, number> {
  const slots = new Map<number, number>();
  for (const { line: { latency_histogram }, part } of pieces) {
    for (const { device_name, buckets } of latency_histogram) {
      if (device_name === device) { for (const { slot, count } of buckets) slots.set(slot, (slots.get(slot) ?? 0) + count * part); }
    }
  }
  return slots;
}

/** The most that any line counted as it ended, which none did where all that are told of go on. */
function inFlightOf(pieces: readonly Piece<IoSnapshot>[], device: string): number | null {
  let most: number | null = null;
  for (const { line: { inflight }, isLast } of pieces) {
    if (!isLast) continue;
    for (const { device_name, count } of inflight) if (device_name === device) most = Math.max(most ?? count, count);
  }
  return most;
}

function devicesOf(lines: readonly IoSnapshot[]): ReportResult["devices"] {
  const names = new Set(
    lines.flatMap(({ latency_histogram, inflight }) => [...latency_histogram, ...inflight].map(({ device_name }) => device_name)),
  );
  const pieces = whole(lines);
  return [...names].map((device) => {
    const slots = slotsOf(pieces, device);
    const requests = slots.values().reduce((sum, count) => sum + count, 0);
    return {
      device,
      requests,
      p50Ns: log2Quantile(slots, 0.5),
      p99Ns: log2Quantile(slots, 0.99),
      mostInFlight: inFlightOf(pieces, device) ?? 0,
    };
  }).sort((a, b) => b.requests - a.requests || (a.device < b.device ? -1 : 1));
}

function latencyCharts(lines: readonly IoSnapshot[], stretches: readonly Stretch<IoSnapshot>[]): Chart[] {
  const active = devicesOf(lines).filter(({ requests, mostInFlight }) => requests > 0 || mostInFlight > 0);
  const devices = active.slice(0, MOST_DEVICES).map(({ device }) => device);
  const intervals = intervalsOf(stretches);
  const each = (value: (stretch: Stretch<IoSnapshot>, device: string) => number | null) =>
    devices.map((device) => ({ name: device, values: stretches.map((stretch) => value(stretch, device)) }));
  const quantile = (q: number, dashed: boolean) =>
    devices.map((device): Series => ({
      name: `${device} p${q * 100}`,
      of: { name: device, figure: `p${q * 100}`, dashed },
      values: stretches.map(({ pieces }) => log2Quantile(slotsOf(pieces, device), q)),
    }));
  const rate = ({ pieces, seconds }: Stretch<IoSnapshot>, device: string) =>
    slotsOf(pieces, device).values().reduce((sum, count) => sum + count, 0) / seconds;
  return [
    {
      type: "chart",
      title: "Latency of requests (at most)",
      unit: "ns",
      form: "log",
      intervals,
      series: [...quantile(0.5, true), ...quantile(0.99, false)],
    },
    { type: "chart", title: "Requests", unit: "per-second", form: "lines", intervals, series: each(rate) },
    {
      type: "chart",
      title: "Requests in flight",
      unit: "count",
      form: "lines",
      intervals,
      series: each(({ pieces }, device) => inFlightOf(pieces, device)),
    },
  ];
}

/** Of one process, or of all. */
function sumOf(pieces: readonly Piece<SchedSnapshot>[], of: "off_cpu_ns" | "page_faults", key?: string): number {
  const ofLine = (line: SchedSnapshot) => key === undefined ? Object.values(line[of]).reduce((sum, value) => sum + value, 0) : line[of][key] ?? 0;
  return pieces.reduce((sum, { line, part }) => sum + ofLine(line) * part, 0);
}

function processesOf(lines: readonly SchedSnapshot[]): ReportResult["processes"] {
  const sums = new Map<string, { offCpuNs: number; pageFaults: number }>();
  const add = (key: string, offCpuNs: number, pageFaults: number) => {
    const sum = sums.get(key) ?? { offCpuNs: 0, pageFaults: 0 };
    sums.set(key, { offCpuNs: sum.offCpuNs + offCpuNs, pageFaults: sum.pageFaults + pageFaults });
  };
  for (const { off_cpu_ns, page_faults } of lines) {
    for (const [key, ns] of Object.entries(off_cpu_ns)) add(key, ns, 0);
    for (const [key, faults] of Object.entries(page_faults)) add(key, 0, faults);
  }
  return [...sums].map(([key, sum]) => ({ ...processOf(key), ...sum })).sort((a, b) => b.offCpuNs - a.offCpuNs || Number(a.pid) - Number(b.pid));
}

function processCharts(lines: readonly SchedSnapshot[], stretches: readonly Stretch<SchedSnapshot>[]): Chart[] {
  const processes = processesOf(lines);
  const intervals = intervalsOf(stretches);
  const stacked = (of: "off_cpu_ns" | "page_faults", total: "offCpuNs" | "pageFaults", scale: number) => {
    const most = processes.filter((process) => process[total] > 0).sort((a, b) => b[total] - a[total]);
    const shown = most.slice(0, MOST_PROCESSES), others = most.length - shown.length;
    const perSecond = (sum: number, { seconds }: Stretch<SchedSnapshot>) => sum / scale / seconds;
    const series = shown.map(({ pid, name }) => ({
      name: name === null ? pid : `${name} ${pid}`,
      values: stretches.map((stretch) => perSecond(sumOf(stretch.pieces, of, processKey(pid, name)), stretch)),
    }));
    if (others === 0) return series;
    // What is left of all: a day may have had a hundred thousand processes.
    const left = stretches.map((stretch) => {
      const { pieces } = stretch, rest = shown.reduce((sum, { pid, name }) => sum - sumOf(pieces, of, processKey(pid, name)), sumOf(pieces, of));
      return perSecond(Math.max(0, rest), stretch);
    });
    return [...series, { name: `${others} others`, values: left }];
  };
  return [
    {
      type: "chart",
      title: "Threads off a processor",
      unit: "count",
      form: "stacked",
      intervals,
      series: stacked("off_cpu_ns", "offCpuNs", 1e9),
    },
    { type: "chart", title: "Page faults", unit: "per-second", form: "stacked", intervals, series: stacked("page_faults", "pageFaults", 1) },
  ];
}

/** Line → the one with which the kernel's sums are compared. */
type Before = ReadonlyMap<SchedSnapshot, SchedSnapshot>;

/** For how much of the time since the lines before; null where the kernel said nothing, or began to count anew. */
function stalled(
  pieces: readonly Piece<SchedSnapshot>[],
  before: Before,
  resource: typeof RESOURCES[number],
  stall: typeof STALLS[number],
): number | null {
  let us = 0, seconds = 0;
  for (const { line, part } of pieces) {
    const last = before.get(line), since = stalledSince(last, resource, stall), total = stalledSince(line, resource, stall);
    if (since === undefined || total === undefined || total < since) continue;
    us += (total - since) * part;
    seconds += (line.timestamp - last!.timestamp) * part;
  }
  return seconds === 0 ? null : Math.min(1, us / 1e6 / seconds);
}

/** Lines of a file in order, each with the last one that had ended when it began: two runs that went on at once may have been put into one file. */
function* comparable(lines: readonly SchedSnapshot[]): Iterable<[line: SchedSnapshot, before: SchedSnapshot]> {
  for (const [i, line] of lines.entries()) {
    const before = lines[placeBefore(lines, line, i)];
    if (before) yield [line, before];
  }
}

function pressureOf(lines: readonly SchedSnapshot[], before: Before): ReportResult["pressure"] {
  const pieces = whole(lines);
  const of = (resource: typeof RESOURCES[number]) => ({
    some: stalled(pieces, before, resource, "some"),
    full: stalled(pieces, before, resource, "full"),
  });
  return { cpu: of("cpu"), io: of("io"), memory: of("memory") };
}

function pressureCharts(stretches: readonly Stretch<SchedSnapshot>[], before: Before): Chart[] {
  const series = RESOURCES.flatMap((resource) =>
    STALLS.map((stall) => ({
      name: `${resource}, ${stall}`,
      values: stretches.map(({ pieces }) => stalled(pieces, before, resource, stall)),
    }))
  ).filter(({ values }) => values.some((value) => value !== null));
  const intervals = intervalsOf(stretches);
  return [{ type: "chart", title: "Pressure: time in which somebody waits", unit: "ratio", form: "lines", intervals, series }];
}

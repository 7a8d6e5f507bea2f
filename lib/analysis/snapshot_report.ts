import type { Chart } from "../events/view.ts";
import type { ReportResult } from "./report_schema.ts";
import type { IoSnapshot, SchedSnapshot } from "./snapshots_schema.ts";
import { log2Quantile } from "./log2_quantile.ts";

/** Points of a chart: more than that no picture shows. */
const MOST_POINTS = 600;
/** Processes with a line of their own, the others are one; and devices that are drawn. */
const MOST_PROCESSES = 8, MOST_DEVICES = 8;

interface When {
  readonly timestamp: number;
  readonly interval_s: number;
}

/** What `--snapshots` wrote, of one file or of several, told and drawn on one time axis. */
export class SnapshotReport {
  readonly #io: IoSnapshot[] = [];
  readonly #sched: SchedSnapshot[] = [];
  #unread = 0;

  io(line: IoSnapshot): void {
    this.#io.push(line);
  }

  sched(line: SchedSnapshot): void {
    this.#sched.push(line);
  }

  unread(): void {
    this.#unread++;
  }

  result(): ReportResult {
    const io = inOrder(this.#io), sched = inOrder(this.#sched);
    const all = [...io, ...sched];
    return {
      // Not as arguments of a call: weeks have more of them than fit.
      from: all.length === 0 ? null : all.reduce((from, line) => Math.min(from, beginOf(line)), Infinity),
      to: all.length === 0 ? null : all.reduce((to, { timestamp }) => Math.max(to, timestamp), 0),
      lines: { io: io.length, sched: sched.length, unread: this.#unread },
      missing: [missingOf(io), missingOf(sched)].reduce((one, other) => one.seconds >= other.seconds ? one : other),
      devices: devicesOf(io),
      processes: processesOf(sched),
      pressure: pressureOf(sched),
    };
  }

  charts(): Chart[] {
    const io = grouped(inOrder(this.#io)), sched = grouped(inOrder(this.#sched));
    return [...latencyCharts(io), ...processCharts(sched), ...pressureCharts(sched)].filter(({ series }) => series.length > 0);
  }
}

function beginOf({ timestamp, interval_s }: When): number {
  return timestamp - interval_s;
}

/** Where nothing was written for longer than half an interval. */
function missingOf(lines: readonly When[]): ReportResult["missing"] {
  const missing = lines.map((line, i) => i === 0 ? 0 : beginOf(line) - lines[i - 1]!.timestamp);
  const gaps = missing.filter((seconds, i) => seconds > lines[i]!.interval_s / 2);
  return { pieces: gaps.length, seconds: gaps.reduce((sum, seconds) => sum + seconds, 0) };
}

function inOrder<Line extends When>(lines: readonly Line[]): Line[] {
  return lines.toSorted((a, b) => a.timestamp - b.timestamp);
}

/** Intervals that are drawn as one. */
type Group<Line> = readonly Line[];

function grouped<Line extends When>(lines: readonly Line[]): Group<Line>[] {
  const size = Math.ceil(lines.length / MOST_POINTS);
  return Array.from({ length: Math.ceil(lines.length / size) || 0 }, (_, i) => lines.slice(i * size, (i + 1) * size));
}

function intervalsOf(groups: readonly Group<When>[]): Chart["intervals"] {
  return groups.map((group) => [beginOf(group[0]!) * 1000, group.at(-1)!.timestamp * 1000]);
}

/** Seconds that a group's lines tell of. */
function secondsOf(group: Group<When>): number {
  return group.reduce((sum, { interval_s }) => sum + interval_s, 0);
}

/** By slot: requests of a device. */
function slotsOf(lines: readonly IoSnapshot[], device: string): Map<number, number> {
  const slots = new Map<number, number>();
  for (const { latency_histogram } of lines) {
    for (const { device_name, buckets } of latency_histogram) {
      if (device_name === device) { for (const { slot, count } of buckets) slots.set(slot, (slots.get(slot) ?? 0) + count); }
    }
  }
  return slots;
}

function inFlightOf(lines: readonly IoSnapshot[], device: string): number | null {
  let most: number | null = null;
  for (const { inflight } of lines) {
    for (const { device_name, count } of inflight) if (device_name === device) most = Math.max(most ?? count, count);
  }
  return most;
}

function devicesOf(lines: readonly IoSnapshot[]): ReportResult["devices"] {
  const names = new Set(
    lines.flatMap(({ latency_histogram, inflight }) => [...latency_histogram, ...inflight].map(({ device_name }) => device_name)),
  );
  return [...names].map((device) => {
    const slots = slotsOf(lines, device);
    const requests = slots.values().reduce((sum, count) => sum + count, 0);
    return {
      device,
      requests,
      p50Ns: log2Quantile(slots, 0.5),
      p99Ns: log2Quantile(slots, 0.99),
      mostInFlight: inFlightOf(lines, device) ?? 0,
    };
  }).sort((a, b) => b.requests - a.requests || (a.device < b.device ? -1 : 1));
}

function latencyCharts(groups: readonly Group<IoSnapshot>[]): Chart[] {
  const active = devicesOf(groups.flat()).filter(({ requests, mostInFlight }) => requests > 0 || mostInFlight > 0);
  const devices = active.slice(0, MOST_DEVICES).map(({ device }) => device);
  const intervals = intervalsOf(groups);
  const each = (name: (device: string) => string, value: (group: Group<IoSnapshot>, device: string) => number | null) =>
    devices.map((device) => ({ name: name(device), values: groups.map((group) => value(group, device)) }));
  const quantile = (q: number) => each((device) => `${device} p${q * 100}`, (group, device) => log2Quantile(slotsOf(group, device), q));
  const rate = (group: Group<IoSnapshot>, device: string) =>
    slotsOf(group, device).values().reduce((sum, count) => sum + count, 0) / secondsOf(group);
  return [
    { type: "chart", title: "Latency of requests (at most)", unit: "ns", form: "log", intervals, series: [...quantile(0.5), ...quantile(0.99)] },
    { type: "chart", title: "Requests", unit: "per-second", form: "lines", intervals, series: each((device) => device, rate) },
    {
      type: "chart",
      title: "Requests in flight",
      unit: "count",
      form: "lines",
      intervals,
      series: each((device) => device, inFlightOf),
    },
  ];
}

/** Of one process, or of all. */
function sumOf(lines: readonly SchedSnapshot[], of: "off_cpu_ns" | "page_faults", pid?: string): number {
  const ofLine = (line: SchedSnapshot) => pid === undefined ? Object.values(line[of]).reduce((sum, value) => sum + value, 0) : line[of][pid] ?? 0;
  return lines.reduce((sum, line) => sum + ofLine(line), 0);
}

function processesOf(lines: readonly SchedSnapshot[]): ReportResult["processes"] {
  const sums = new Map<string, { offCpuNs: number; pageFaults: number }>();
  const add = (pid: string, offCpuNs: number, pageFaults: number) => {
    const sum = sums.get(pid) ?? { offCpuNs: 0, pageFaults: 0 };
    sums.set(pid, { offCpuNs: sum.offCpuNs + offCpuNs, pageFaults: sum.pageFaults + pageFaults });
  };
  for (const { off_cpu_ns, page_faults } of lines) {
    for (const [pid, ns] of Object.entries(off_cpu_ns)) add(pid, ns, 0);
    for (const [pid, faults] of Object.entries(page_faults)) add(pid, 0, faults);
  }
  const names = namesOf(lines);
  return [...sums].map(([pid, sum]) => ({ pid, name: names.get(pid) ?? null, ...sum })).sort((a, b) =>
    b.offCpuNs - a.offCpuNs || Number(a.pid) - Number(b.pid)
  );
}

/** By process: what it called itself last. */
function namesOf(lines: readonly SchedSnapshot[]): Map<string, string> {
  return new Map(lines.flatMap(({ names = {} }) => Object.entries(names)));
}

function processCharts(groups: readonly Group<SchedSnapshot>[]): Chart[] {
  const processes = processesOf(groups.flat());
  const intervals = intervalsOf(groups);
  const stacked = (of: "off_cpu_ns" | "page_faults", total: "offCpuNs" | "pageFaults", scale: number) => {
    const most = processes.filter((process) => process[total] > 0).sort((a, b) => b[total] - a[total]);
    const shown = most.slice(0, MOST_PROCESSES), others = most.length - shown.length;
    const perSecond = (sum: number, group: Group<SchedSnapshot>) => sum / scale / secondsOf(group);
    const series = shown.map(({ pid, name }) => ({
      name: name === null ? pid : `${name} ${pid}`,
      values: groups.map((group) => perSecond(sumOf(group, of, pid), group)),
    }));
    if (others === 0) return series;
    // What is left of all: a day may have had a hundred thousand processes.
    const left = groups.map((group) => perSecond(shown.reduce((sum, { pid }) => sum - sumOf(group, of, pid), sumOf(group, of)), group));
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

const RESOURCES = ["cpu", "io", "memory"] as const, STALLS = ["some", "full"] as const;

/** For how much of the time between two lines, of those that a group goes through; null where the kernel said nothing, or began to count anew. */
function stalled(lines: readonly SchedSnapshot[], resource: typeof RESOURCES[number], stall: typeof STALLS[number]): number | null {
  let us = 0, seconds = 0;
  for (const [i, line] of lines.entries()) {
    const before = lines[i - 1], since = before?.pressure[resource]?.[stall]?.total, total = line.pressure[resource]?.[stall]?.total;
    if (since === undefined || total === undefined || total < since) continue;
    us += total - since;
    seconds += line.timestamp - before!.timestamp;
  }
  return seconds === 0 ? null : Math.min(1, us / 1e6 / seconds);
}

function pressureOf(lines: readonly SchedSnapshot[]): ReportResult["pressure"] {
  const of = (resource: typeof RESOURCES[number]) => ({ some: stalled(lines, resource, "some"), full: stalled(lines, resource, "full") });
  return { cpu: of("cpu"), io: of("io"), memory: of("memory") };
}

function pressureCharts(groups: readonly Group<SchedSnapshot>[]): Chart[] {
  const series = RESOURCES.flatMap((resource) =>
    STALLS.map((stall) => ({
      name: `${resource}, ${stall}`,
      // From the last line of the group before.
      values: groups.map((group, i) => stalled([...groups[i - 1]?.slice(-1) ?? [], ...group], resource, stall)),
    }))
  ).filter(({ values }) => values.some((value) => value !== null));
  return [{ type: "chart", title: "Pressure: time in which somebody waits", unit: "ratio", form: "lines", intervals: intervalsOf(groups), series }];
}

/** Sums of intervals: as many requests as fio made, and times off a processor and faults as programs know them of themselves. */
import assert from "node:assert/strict";
import { ioSnapshotSchema, type SchedSnapshot, schedSnapshotSchema } from "../../../lib/analysis/snapshots_schema.ts";
import { reportSummarySchema } from "../../../lib/commands/report_schema.ts";
import { parsePressure } from "../../../lib/machine/pressure.ts";
import { mustRun, run, start } from "../../harness/command.ts";
import { type Bpftrace, readsSums } from "../../harness/bpftraces.ts";
import { sampledTest } from "../../harness/kernel.ts";
import { llmprof } from "../../harness/llmprof.ts";
import { snapshotLines } from "../../harness/snapshot_lines.ts";
import { temporary } from "../../harness/temporary.ts";
import { built } from "../../setup/programs.ts";
import { hasRawTracepoints } from "../../independent/requests.ts";
import { Awake } from "../awake.ts";
import { bootNow } from "../boot_clock.ts";
import { backwards, BLOCK, fioCommand, jobOf } from "../fio.ts";
import { compareSeen, hiddenAnswers } from "../hidden_hits.ts";
import { loopDevice } from "../loop_device.ts";
import { until } from "../processes.ts";

const REQUESTS = 4999;

/** Nobody is named, or one. */
const whoever = { "the machine": [], "the target": ["--pid", String(Deno.pid)] };

for (const whose of Object.keys(whoever) as (keyof typeof whoever)[]) {
  sampledTest(
    1,
    `io --snapshots: buckets add up to the requests that fio made, of ${whose}`,
    { fio: true },
    (bpftrace) => comparesBuckets(bpftrace, whoever[whose]),
    whose === "the machine",
  );
}

async function comparesBuckets(bpftrace: Bpftrace, whom: readonly string[]): Promise<void> {
  using folder = temporary();
  await using device = await loopDevice(folder, 64);
  const file = folder.file("io.jsonl");
  const flags = ["--bpftrace", bpftrace.path, ...whom, "--interval", "2", "--snapshots", file, "--flush-every", "2", "--fsync"];
  await using awake = new Awake();
  await using running = start([...llmprof, "io", ...flags], { timeoutMilliseconds: 60_000 });
  await running.saw("Tracing");
  using hidden = hiddenAnswers(device);
  const before = device.stat();
  // Of 256 blocks several times 32 at once: some of a block that is on its way already, which only a request's own address tells apart.
  const often = { iodepth: 32, norandommap: 1, size: "1m", io_size: REQUESTS * BLOCK };
  const each = { rw: "randread", number_ios: REQUESTS, ...hasRawTracepoints(bpftrace) ? often : { iodepth: 4 } };
  const alone = await mustRun(fioCommand(device.path, each));
  device.scheduler("mq-deadline");
  const list = backwards(folder.file("backwards"), device.path, 4096);
  const joined = await mustRun(fioCommand(device.path, { rw: "read", iodepth: 16, iodepth_batch_submit: 16, read_iolog: list, replay_no_stall: 1 }));
  // Of this one half is there: it is answered in two parts, of which the second one fails.
  device.truncate((32 << 20) + 32_768);
  const half = await run(["dd", `if=${device.path}`, "of=/dev/null", "bs=64K", "skip=512", "count=1", "iflag=direct", "status=none"]);
  assert.equal(half.code, 1, half.stderr);
  const after = device.stat(), kernel = after.reads - before.reads, merged = after.readsMerged - before.readsMerged;
  const asked = [alone, joined].reduce((sum, { stdout }) => sum + jobOf(stdout).read.total_ios, 1);
  await until("four intervals", () => Deno.readTextFileSync(file).split("\n").length > 4);
  running.kill("SIGINT");
  const ended = await running.finished();
  assert.equal(ended.code, 0, ended.stderr);
  const stood = awake.stood() / 2000;
  const lines = snapshotLines(Deno.readTextFileSync(file), ioSnapshotSchema);
  // The kernel skips a tick that comes while a program runs: then two intervals are one. The first begins when counting does, the last one ends with the run.
  // Where the machine stands still, a tick comes late.
  const [first, ...intervals] = lines.slice(0, -1).map(({ interval_s }) => interval_s / 2);
  assert.ok(first! > 0.5 && first! < 2.05 + stood && intervals.length >= 1, `${[first, ...intervals]}`);
  assert.ok(intervals.every((n) => n > 0.5 - stood && Math.abs(n - Math.round(n)) < 0.05 + stood), intervals.join());
  const rows = lines.flatMap(({ latency_histogram }) => latency_histogram).filter(({ device_name }) => device_name === device.name);
  for (const { total, buckets } of rows) assert.equal(buckets.reduce((sum, { count }) => sum + count, 0), total);
  const told = rows.reduce((sum, { total }) => sum + total, 0);
  const unseen = Number(/skipped (\d+) hits?/.exec(ended.stderr)?.[1] ?? 0) + hidden.count();
  assert.ok(kernel >= REQUESTS && told <= kernel && kernel - told <= unseen, `${told} of ${kernel}, ${unseen} skipped or hidden`);
  // What fio or dd asked for is a request, or has become a part of one.
  const requests = asked - merged;
  assert.ok(Math.abs(kernel - requests) <= 4 && requests - told <= unseen, `${told} of ${asked} that were asked for, ${merged} of them merged`);
  // What was not seen to be answered is still there, as far as anybody knows; where that may be often, the kernel is asked, which knows of none.
  const last = lines.at(-1)!.inflight.find(({ device_name }) => device_name === device.name)!;
  assert.equal(last.count, hasRawTracepoints(bpftrace) ? kernel - told : 0);
  // As people ask such files.
  const { stdout } = await mustRun(["jq", "-r", `.latency_histogram[] | select(.device_name == "${device.name}") | .total`, file]);
  assert.equal(stdout.trim().split("\n").reduce((sum, line) => sum + Number(line), 0), told);
  const bySlot = "[.[].latency_histogram[].buckets[]] | group_by(.slot) | map({us: .[0].bucket_low, n: map(.count) | add})";
  const slots = JSON.parse((await mustRun(["jq", "-s", bySlot, file])).stdout) as { us: number; n: number }[];
  assert.equal(
    slots.reduce((sum, { n }) => sum + n, 0),
    lines.flatMap(({ latency_histogram }) => latency_histogram).reduce((n, { total }) => n + total, 0),
  );
  assert.ok(slots.every(({ us }) => Number.isInteger(Math.log2(us))));
  const reported = await mustRun([...llmprof, "report", file, "--summary", "json"]);
  const { result } = reportSummarySchema.parse(JSON.parse(reported.stdout));
  assert.equal(result.devices.find(({ device: name }) => name === device.name)!.requests, told);
  assert.deepEqual(result.lines, { io: lines.length, sched: 0, unread: 0 });
}

sampledTest(0, "sched --snapshots: time off a processor and page faults by process, and pressure as the kernel says it", {}, ({ path }) => {
  return compareSeen(() => comparesTotals(path));
});

/**
 * Starts a program that is over at once, then sleeps a tenth of a second 167 times, long enough for sums to come back to the maps in which they began, in a
 * process of its own, and says for how long it did not compute meanwhile.
 */
const SLEEPER = `
import os, resource, subprocess, time
short = subprocess.Popen(["true"])
short.wait()
wall, cpu = time.monotonic(), time.process_time()
for i in range(167): time.sleep(0.1)
used = resource.getrusage(resource.RUSAGE_SELF)
print(os.getpid(), time.monotonic() - wall - (time.process_time() - cpu), used.ru_minflt + used.ru_majflt, short.pid)`;

const RESOURCES = ["cpu", "io", "memory"] as const;

/** Microseconds for which somebody, and everybody, stood still for want of each, since the machine was started. */
const stalls = (pressure: SchedSnapshot["pressure"]) =>
  RESOURCES.flatMap((resource) => [pressure[resource]!.some!.total, pressure[resource]!.full!.total]);

/** What the kernel itself says of that every 20 ms, and once more at the end. `at`: seconds since 1970. */
function loggedStalls(): { end(): { readonly at: number; readonly told: readonly number[] }[] } & Disposable {
  const look = () => {
    const said = RESOURCES.map((resource) => [resource, parsePressure(Deno.readTextFileSync(`/proc/pressure/${resource}`))]);
    return { at: Date.now() / 1000, told: stalls(Object.fromEntries(said)) };
  };
  const looks = [look()], timer = setInterval(() => looks.push(look()), 20);
  return { end: () => [...looks, look()], [Symbol.dispose]: () => clearInterval(timer) };
}

async function comparesTotals(path: string): Promise<boolean> {
  using folder = temporary();
  const file = folder.file("sched.jsonl");
  const before = unseenByThreads("cpu");
  using logged = loggedStalls();
  const flags = ["--bpftrace", path, "--interval", "1", "--snapshots", file, "--no-output", "--", "python3", "-c", SLEEPER];
  await using running = start([...llmprof, "sched", ...flags], { cwd: folder.path, timeoutMilliseconds: 60_000 });
  const ended = await running.finished();
  const looks = logged.end();
  assert.equal(ended.code, 0, ended.stderr);
  assert.deepEqual([...Deno.readDirSync(folder.path)].map(({ name }) => name), ["sched.jsonl"], "there is no trace");
  const [, pid, asleep, faulted, short] = /^(\d+) (\S+) (\d+) (\d+)$/m.exec(ended.stdout)!.map(String) as [string, string, string, string, string];
  const lines = snapshotLines(Deno.readTextFileSync(file), schedSnapshotSchema);
  assert.ok(lines.length >= 4);
  const off = lines.reduce((sum, { off_cpu_ns }) => sum + (off_cpu_ns[pid] ?? 0), 0) / 1e9;
  const least = Number(asleep) - (unseenByThreads("cpu") - before) / 1e9;
  // Where the kernel skipped that it leaves its processor, a sleep is missing, and the kernel says so.
  if (off < least && /skipped \d+ hit/.test(ended.stderr)) return false;
  // Python waits for its own files before.
  assert.ok(off >= least && off < Number(asleep) + 0.5, `${off} s, ${asleep} of them asleep: ${ended.stderr}`);
  // Each interval has what ended in it.
  for (const { off_cpu_ns, interval_s } of lines.slice(1, 3)) assert.ok(Math.abs(off_cpu_ns[pid]! / 1e9 - interval_s) < 0.25);
  const faults = lines.reduce((sum, { page_faults }) => sum + (page_faults[pid] ?? 0), 0);
  // Pages that the kernel touches for it, an eighth, are in the program's own count alone, those of its exit here alone.
  assert.ok(faults > 0.75 * Number(faulted) && faults < 1.1 * Number(faulted), `${faults} faults, ${faulted} by its own count`);
  const reported = await mustRun([...llmprof, "report", file, "--summary", "json"]);
  const { result } = reportSummarySchema.parse(JSON.parse(reported.stdout));
  const told = result.processes.find((process) => process.pid === pid)!;
  assert.deepEqual([told.name, Math.round(told.offCpuNs), told.pageFaults], ["python3", Math.round(off * 1e9), faults]);
  assert.equal(result.processes.find((process) => process.pid === short)!.name, "true");
  const { stdout } = await mustRun(["jq", "-r", "[.iso_timestamp, .pressure.memory.full.avg10] | @tsv", file]);
  assert.deepEqual(stdout.trimEnd().split("\n"), lines.map(({ iso_timestamp, pressure }) => `${iso_timestamp}\t${pressure.memory!.full!.avg10}`));
  // Each line has what the kernel said at one moment of the two seconds before it: between two looks, or while one went on.
  for (const { timestamp, pressure } of lines) {
    const said = stalls(pressure);
    const last = looks.findLastIndex(({ told }) => told.every((total, i) => total <= said[i]!));
    const first = looks.findIndex(({ told }) => told.every((total, i) => total >= said[i]!));
    assert.ok(last >= 0 && first >= 0 && first - last <= 2, `${said}, said at ${timestamp}: looks ${last} and ${first}`);
    assert.ok(looks[last]!.at > timestamp - 2 && looks[first]!.at < timestamp + 0.1, `${said}, said at ${timestamp}`);
  }
  return true;
}

for (const [index, whose] of (["the machine", "the target"] as const).entries()) {
  sampledTest(
    index,
    `sched --snapshots: at the most switches that sixteen threads can make, they are off as long as they say, of ${whose}`,
    {},
    ({ path }) => compareRing(path, whose),
  );
}

async function compareRing(path: string, whose: keyof typeof whoever): Promise<void> {
  using folder = temporary();
  const file = folder.file("sched.jsonl"), ring = [built.ring, "1", "16", "10007"], before = unseenByThreads("cpu1");
  const whom = whose === "the target" ? ["--", ...ring] : [];
  await using running = start([...llmprof, "sched", "--bpftrace", path, "--interval", "1", "--snapshots", file, ...whom], {
    timeoutMilliseconds: 60_000,
  });
  let stderr = "";
  if (whose === "the machine") {
    await running.saw("Tracing");
    ({ stderr } = await mustRun(ring));
    running.kill("SIGINT");
  }
  const ended = await running.finished();
  assert.equal(ended.code, 0, ended.stderr);
  const books = booksOf(stderr + ended.stderr);
  assert.equal(books.length, 17);
  const own = books.reduce((sum, { off }) => sum + off, 0), pid = String(books.at(-1)!.tid);
  // As people ask such files.
  const { stdout } = await mustRun(["jq", "-s", "--arg", "pid", pid, "[.[].off_cpu_ns[$pid] // 0] | add", file]);
  const told = Number(stdout);
  // What it does before it keeps a book, and after, is within that as well. What the machine under this one, and interrupts, take from a thread that is on its
  // processor is off by its clocks alone.
  const unseen = unseenByThreads("cpu1") - before;
  assert.ok(told - own < 0.001 * own && own - told < 0.001 * own + unseen, `${told} ns off, ${own} by their own clocks: ${ended.stderr}`);
}

sampledTest(1, "sched --snapshots: where threads leave bpftrace no processor, each interval has its own times off", {}, async (bpftrace) => {
  const { path } = bpftrace;
  using folder = temporary();
  const file = folder.file("sched.jsonl"), cpus = navigator.hardwareConcurrency, threads = 16;
  const rings = `for cpu in $(seq 0 ${cpus - 1}); do "$0" $cpu ${threads} 100003 & done; wait`;
  const ended = await start([...llmprof, "sched", "--bpftrace", path, "--interval", "1", "--snapshots", file, "--", "sh", "-c", rings, built.ring], {
    timeoutMilliseconds: 60_000,
  }).finished();
  assert.equal(ended.code, 0, ended.stderr);
  const books = booksOf(ended.stderr);
  assert.equal(books.length, cpus * (threads + 1));
  const pids = new Set(books.map(({ tid }) => String(tid)));
  const offOf = ({ off_cpu_ns }: SchedSnapshot) => Object.entries(off_cpu_ns).reduce((sum, [pid, ns]) => pids.has(pid) ? sum + ns : sum, 0) / 1e9;
  const lines = snapshotLines(Deno.readTextFileSync(file), schedSnapshotSchema);
  const told = lines.reduce((sum, line) => sum + offOf(line), 0), own = books.reduce((sum, { off }) => sum + off, 0) / 1e9;
  assert.ok(told < 1.001 * own, `${told} s off, ${own} by their own clocks`);
  if (!readsSums(bpftrace)) return;
  const sinceBoot = Date.now() / 1000 - Number(bootNow()) / 1e9;
  const [from, to] = [Math.max(...books.map((book) => book.from)), Math.min(...books.map((book) => book.to))].map((at) => at / 1e9 + sinceBoot);
  const whole = lines.filter(({ timestamp, interval_s }) => timestamp - interval_s > from! + 0.1 && timestamp < to! - 0.1);
  assert.ok(whole.length >= 2, `${whole.length} of ${lines.length} intervals`);
  // All but one on each processor are off it at any moment.
  for (const line of whole) {
    const expected = cpus * (threads - 1) * line.interval_s;
    assert.ok(Math.abs(offOf(line) - expected) < 0.03 * expected, `${offOf(line)} s off of ${expected}: ${ended.stderr}`);
  }
});

sampledTest(1, "sched --snapshots: a process has its name until its last thread ends, also where the first one did before", {}, async ({ path }) => {
  using folder = temporary();
  const [file, read, go] = ["sched.jsonl", "read", "go"].map((name) => folder.file(name)) as [string, string, string];
  Deno.writeTextFileSync(read, "x".repeat(211));
  const flags = ["--bpftrace", path, "--interval", "1", "--snapshots", file];
  await using running = start([...llmprof, "sched", ...flags, "--", built.headless, read, go], { timeoutMilliseconds: 60_000 });
  await running.saw("Tracing");
  const lines = () => snapshotLines(Deno.readTextFileSync(file), schedSnapshotSchema);
  // Nobody looks into /proc for names any more then.
  await until("three intervals", () => Deno.readTextFileSync(file).split("\n").length > 3);
  const before = lines().length;
  Deno.writeTextFileSync(go, "");
  const ended = await running.finished();
  assert.equal(ended.code, 0, ended.stderr);
  const after = lines().slice(before).filter(({ off_cpu_ns }) => Object.keys(off_cpu_ns).length > 0);
  assert.ok(after.length >= 2, `${after.length} intervals`);
  for (const { off_cpu_ns, names } of after) assert.deepEqual(Object.keys(off_cpu_ns).map((pid) => names![pid]), ["headless"]);
});

/** What ring.c says of each thread: when it passed bytes on (CLOCK_BOOTTIME), and for how long it was on no processor; nanoseconds. */
interface Book {
  readonly tid: number;
  readonly from: number;
  readonly to: number;
  readonly off: number;
}

function booksOf(said: string): Book[] {
  return said.split("\n").filter((line) => line.startsWith('{"tid"')).map((line) => JSON.parse(line));
}

/** Nanoseconds that interrupts, and others on the machine under this one, have had of a processor, or of all: the kernel counts hundredths of a second. */
function unseenByThreads(of: "cpu1" | "cpu"): number {
  const [, , , , , irq, softirq, steal] = new RegExp(`^${of} +(.*)$`, "m").exec(Deno.readTextFileSync("/proc/stat"))![1]!.split(" ").map(Number);
  return (irq! + softirq! + steal!) * 1e7;
}

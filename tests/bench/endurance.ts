/**
 * As many switches and as many requests to a disk as this machine makes, on all of its processors, for half a minute: what llmprof tells of them beside what
 * the kernel counts, and the memory of llmprof and of its bpftrace meanwhile.
 *
 *     deno run -A tests/bench/endurance.ts [--seconds 30] [--bpftrace 0.23]
 *
 * Ends with 1 where more is missing than was lost, as llmprof says, or hidden from every program, as the kernel's own tracing says; where more is told than
 * there was; where more than a thousandth was lost; where less than 99 % is on the timeline; and where memory in the last ten seconds was a tenth more than in the ten before.
 */
import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { percent } from "../../lib/events/text.ts";
import { bpftraceNamed } from "../harness/bpftraces.ts";
import { temporary } from "../harness/temporary.ts";
import { fioCommand } from "../kernel/fio.ts";
import { firstNames, hiddenAnswers, hiddenSwitches } from "../kernel/hidden_hits.ts";
import { type Command, type Results, startLlmprof, summaryOf } from "../kernel/live_run.ts";
import { loopDevice } from "../kernel/loop_device.ts";
import { bpftracesOf } from "../kernel/processes.ts";
import { built } from "../setup/programs.ts";
import { isComplete } from "./complete.ts";
import { judged } from "./judged.ts";

const { values } = parseArgs({ options: { seconds: { type: "string", default: "30" }, bpftrace: { type: "string", default: "0.23" } } });
const { path } = bpftraceNamed(values.bpftrace);
const seconds = Number(values.seconds);
const CPUS = navigator.hardwareConcurrency;
/** A round takes some nine microseconds in `sched`, on the faster of our machines six. */
const ROUNDS = 110_017 * seconds;
/** That pass a byte on in a ring: a round of all of them takes 130. */
const THREADS = 16, RINGS = 7507 * seconds;
/** Of each thread that counts its switches: how many it makes before and behind that, with what starts it, at most. */
const BESIDES = 20;
/** Of what was counted. */
const LOST = 0.001, MISSING = 0.01;
/** Of a time off a processor nobody knows how much of it a hit is that was lost. */
const OFF = 0.001;
/** Of memory, from so many looks, a second apart, to as many. */
const GROWN = 0.1, LOOKS = 10;

using folder = temporary(), memory = temporary("/dev/shm");
await using device = await loopDevice(memory, 64);
device.scheduler("none");

/** Work, and what llmprof says of it in a summary or in intervals. */
interface Work<C extends Command> {
  readonly command: C;
  readonly argv: readonly string[];
  readonly what: string;
  /** For so long it works, where it does not end by itself. */
  readonly seconds?: number;
  /** What else may be told, see complete.ts. */
  besides(passes: readonly Passes[]): number;
  /** By the kernel's count; `reads`: of the device. */
  counted(passes: readonly Passes[], reads: number): number;
  told(result: Results[C]): number;
  /** Of intervals; where these hold no number but times, in seconds, with what it is by the threads' own clocks. */
  added(rows: readonly SnapshotRow[], passes: readonly Passes[]): number | { readonly told: number; readonly off: number };
}

/** What who passes a byte on says of itself: how often it was switched, as getrusage counts it, and for how many nanoseconds it was on no processor. */
interface Passes {
  readonly tid: number;
  readonly voluntary: number;
  readonly forced: number;
  readonly off?: number;
}

/** As far as it is looked at here: see lib/analysis/snapshots_schema.ts. */
interface SnapshotRow {
  readonly latency_histogram: readonly { readonly device_name: string; readonly total: number }[];
  readonly off_cpu_ns: Readonly<Record<string, number>>;
}

/** The same on each processor. */
const passing = (program: string, ...args: readonly (number | string)[]): Work<"sched"> => ({
  command: "sched",
  argv: ["sh", "-c", `for cpu in $(seq 0 ${CPUS - 1}); do "$0" $cpu "$@" & done; wait`, program, ...args.map(String)],
  what: "switches",
  besides: (passes) => BESIDES * passes.length,
  counted: (passes) => sum(passes.map(({ voluntary, forced }) => voluntary + forced)),
  told: ({ totals }) => totals.voluntary + totals.involuntary,
  added(rows, passes) {
    // The shell waits, too.
    const own = new Set(passes.map(({ tid }) => String(tid)));
    const told = rows.flatMap(({ off_cpu_ns }) => Object.entries(off_cpu_ns)).map(([pid, ns]) => own.has(pid) ? ns : 0);
    return { told: sum(told) / 1e9, off: sum(passes.map(({ off = NaN }) => off)) / 1e9 };
  },
});
const pairs = passing(built.pipes, ROUNDS), rings = passing(built.ring, THREADS, RINGS);
const reading: Work<"io"> = {
  command: "io",
  argv: fioCommand(device.path, { rw: "randread", iodepth: 32, numjobs: CPUS, group_reporting: 1, time_based: 1, runtime: seconds }),
  what: "requests",
  seconds,
  besides: () => 0,
  counted: (_, reads) => reads,
  told: ({ devices }) => sum(devices.filter((row) => row.device === device.number).map(({ requests }) => requests)),
  added: (rows) => sum(rows.flatMap(({ latency_histogram }) => latency_histogram.map((row) => row.device_name === device.name ? row.total : 0))),
};

await watch(pairs);
{
  using _ = withoutGroups();
  await watch(rings);
  await watch(rings, folder.file("sched.jsonl"));
}
await watch(reading);
await watch(reading, folder.file("io.jsonl"));

/**
 * Where the kernel makes a group of each session, two rings leave everything outside of theirs without a processor for 9 to 16 s (Linux 6.18), with llmprof or
 * without: a shell that wants to tell the time does not come to it.
 */
function withoutGroups(): Disposable {
  const file = "/proc/sys/kernel/sched_autogroup_enabled";
  const before = existsSync(file) ? Deno.readTextFileSync(file) : null;
  if (before !== null) Deno.writeTextFileSync(file, "0");
  return { [Symbol.dispose]: () => before === null ? undefined : Deno.writeTextFileSync(file, before) };
}

/** `snapshots`: intervals of a second are written there instead of a trace. */
async function watch<C extends Command>(work: Work<C>, snapshots?: string): Promise<void> {
  const { command, argv, what } = work;
  const flags = snapshots === undefined ? [] : ["--interval", "1", "--snapshots", snapshots];
  const formats = snapshots === undefined ? ["pftrace"] : [];
  using answers = hiddenAnswers(device, firstNames());
  const switches = hiddenSwitches(), before = device.stat().reads, begin = performance.now();
  await using llmprof = startLlmprof(command, {
    bpftrace: path,
    folder,
    flags,
    target: { argv },
    formats,
    timeoutMilliseconds: (4 * seconds + 120) * 1000,
  });
  const sizes: number[] = [];
  let isOver = false;
  const finished = llmprof.finished().finally(() => isOver = true);
  while (!isOver) {
    await Promise.race([finished, pause(1000)]);
    const pids = isOver ? [] : [llmprof.pid, ...bpftracesOf(llmprof.pid)];
    if (pids.length > 1) sizes.push(sum(pids.map(megabytesOf)));
  }
  const ended = await finished, took = (performance.now() - begin) / 1000;
  const { events: { lost, emitted }, result } = summaryOf(command, ended);
  // One that comes while such a thread gives its processor to another is hidden, too, and in whom it came nobody says.
  const hidden = answers.count() + switches();
  const passes = ended.stderr.split("\n").filter((line) => line.startsWith('{"tid"')).map((line): Passes => JSON.parse(line));
  const counted = work.counted(passes, device.stat().reads - before);
  const often = work.seconds === undefined ? `in ${took.toFixed(0)} s` : `in ${seconds} s, ${(counted / seconds).toFixed(0)} a second`;
  console.log(`bpftrace ${values.bpftrace}, ${command}${snapshots ? " --snapshots" : ""}: ${counted} ${what} ${often}`);
  const told = snapshots === undefined ? work.told(result) : work.added(rowsOf(snapshots), passes);
  if (typeof told === "number") {
    const besides = work.besides(passes), isWhole = isComplete({ told, counted, lost, hidden, besides });
    judge(`${told} told + ${lost} lost + at most ${hidden} hidden, and at most ${besides} besides`, isWhole);
    if (snapshots === undefined) judge(`${percent(Math.min(1, told / counted))} on the timeline`, told >= (1 - MISSING) * counted);
  } else {
    judge(`${told.told.toFixed(3)} s off a processor, of ${told.off.toFixed(3)}`, Math.abs(told.told - told.off) <= OFF * told.off);
  }
  const of = snapshots === undefined ? emitted : counted;
  judge(`${lost} of ${of} lost`, lost <= LOST * of);
  const [earlier, later] = [sizes.slice(-2 * LOOKS, -LOOKS), sizes.slice(-LOOKS)].map((sizes) => sum(sizes) / sizes.length) as [number, number];
  const isLong = sizes.length >= 2 * LOOKS;
  judge(
    `${later.toFixed(0)} MB of memory, ${isLong ? `${earlier.toFixed(0)} before` : "too short a run to grow"}`,
    !isLong || later <= (1 + GROWN) * earlier,
  );
}

function judge(figure: string, isMet: boolean): void {
  console.log(`  ${judged(figure, isMet)}`);
}

function rowsOf(file: string): SnapshotRow[] {
  return Deno.readTextFileSync(file).trimEnd().split("\n").map((line) => JSON.parse(line));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

function megabytesOf(pid: number): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(/VmRSS:\s*(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/**
 * As many switches and as many requests to a disk as this machine makes, for half a minute: what llmprof tells of them beside what the kernel and fio
 * count, and the memory of llmprof and of its bpftrace meanwhile.
 *
 *     deno run -A tests/bench/endurance.ts [--seconds 30] [--bpftrace 0.23]
 */
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { bpftraceNamed } from "../harness/bpftraces.ts";
import { temporary } from "../harness/temporary.ts";
import { fioCommand, jobOf } from "../kernel/fio.ts";
import { type Command, type Results, startLlmprof, summaryOf } from "../kernel/live_run.ts";
import { loopDevice } from "../kernel/loop_device.ts";
import { bpftracesOf } from "../kernel/processes.ts";
import { built } from "../setup/programs.ts";

const { values } = parseArgs({ options: { seconds: { type: "string", default: "30" }, bpftrace: { type: "string", default: "0.23" } } });
const { path } = bpftraceNamed(values.bpftrace);
const seconds = Number(values.seconds);
/** A round takes some nine microseconds in `sched`, on the faster of our machines six. */
const ROUNDS = 110_017 * seconds;
/** That pass a byte on in a ring: a round of all of them takes 130. */
const THREADS = 16, RINGS = 7507 * seconds;

using folder = temporary(), memory = temporary("/dev/shm");
await using device = await loopDevice(memory, 64);
device.scheduler("none");
/** Work, what it says that it did, and what llmprof says in a summary or in intervals. */
interface Work<C extends Command> {
  readonly command: C;
  readonly argv: readonly string[];
  counted(stderr: string): string;
  told(result: Results[C]): string;
  added(rows: readonly SnapshotRow[]): string;
}

/** As far as it is looked at here: see lib/analysis/snapshots_schema.ts. */
interface SnapshotRow {
  readonly latency_histogram: readonly { readonly device_name: string; readonly total: number }[];
  readonly off_cpu_ns: Readonly<Record<string, number>>;
}

const passing = (argv: readonly string[]): Work<"sched"> => ({
  command: "sched",
  argv,
  // Of all who pass, as getrusage counts them, and by their own clocks.
  counted(stderr) {
    const passes = stderr.split("\n").filter((line) => line.startsWith('{"tid"')).map((line) => JSON.parse(line));
    const off = passes.some(({ off }) => off === undefined) ? "" : `, ${(sum(passes.map(({ off }) => off)) / 1e9).toFixed(3)} s off a processor`;
    return `${sum(passes.map(({ voluntary, forced }) => voluntary + forced))} switches${off}`;
  },
  told: ({ totals }) => `${totals.voluntary + totals.involuntary} switches`,
  added: (rows) => `${(sum(rows.flatMap(({ off_cpu_ns }) => Object.values(off_cpu_ns))) / 1e9).toFixed(3)} s off a processor`,
});
const pair = passing([built.pipes, "1", String(ROUNDS)]), ring = passing([built.ring, "1", String(THREADS), String(RINGS)]);
const reading: Work<"io"> = {
  command: "io",
  argv: fioCommand(device.path, { rw: "randread", iodepth: 32, time_based: 1, runtime: seconds }),
  counted: (stderr) => `${jobOf(stderr).read.total_ios} requests`,
  told: ({ devices }) => `${sum(devices.filter((row) => row.device === device.number).map(({ requests }) => requests))} requests`,
  added: (rows) =>
    `${sum(rows.flatMap(({ latency_histogram }) => latency_histogram.map((row) => row.device_name === device.name ? row.total : 0)))} requests`,
};

await watch(pair);
await watch(ring);
await watch(ring, folder.file("sched.jsonl"));
await watch(reading);
await watch(reading, folder.file("io.jsonl"));

/** `snapshots`: intervals of a second are written there instead of a trace. */
async function watch<C extends Command>({ command, argv, counted, told, added }: Work<C>, snapshots?: string): Promise<void> {
  const flags = snapshots === undefined ? [] : ["--interval", "1", "--snapshots", snapshots];
  const formats = snapshots === undefined ? ["pftrace"] : [];
  const before = device.stat().reads;
  await using llmprof = startLlmprof(command, {
    bpftrace: path,
    folder,
    flags,
    target: { argv },
    formats,
    timeoutMilliseconds: (seconds + 120) * 1000,
  });
  const sizes: number[] = [];
  let isOver = false;
  const finished = llmprof.finished().finally(() => isOver = true);
  while (!isOver) {
    await Promise.race([finished, pause(2000)]);
    const pids = isOver ? [] : [llmprof.pid, ...bpftracesOf(llmprof.pid)];
    if (pids.length > 1) sizes.push(sum(pids.map(megabytesOf)));
  }
  const ended = await finished;
  const reads = device.stat().reads - before;
  console.log(
    `${command}${snapshots ? " --snapshots" : ""} -- ${argv[0]!.split("/").at(-1)}: ${counted(ended.stderr)}${
      reads > 0 ? `, ${reads} reads by the kernel` : ""
    }`,
  );
  if (snapshots) {
    const rows = Deno.readTextFileSync(snapshots).trimEnd().split("\n").map((line): SnapshotRow => JSON.parse(line));
    console.log(`  ${added(rows)} in ${rows.length} intervals`);
  } else {
    const { events, result } = summaryOf(command, ended);
    console.log(
      `  ${told(result)}; ${events.received} of ${events.emitted} events came, ${events.lost} lost, ${events.skipped} of these skipped by the kernel`,
    );
  }
  const [first = NaN, ...more] = sizes.slice(3);
  console.log(`  memory: ${first.toFixed(0)} MB after 8 s, ${Math.max(...more).toFixed(0)} at most after that`);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

function megabytesOf(pid: number): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(/VmRSS:\s*(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

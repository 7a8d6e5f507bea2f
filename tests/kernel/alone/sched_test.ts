/** Where threads are when they are on no processor: waits that are planted, and what the kernel itself counts of the thread. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { start } from "../../harness/command.ts";
import { sampledTest } from "../../harness/kernel.ts";
import { top } from "../../harness/places.ts";
import { type Temporary, temporary } from "../../harness/temporary.ts";
import { takenProcessors } from "../../independent/taken.ts";
import { query } from "../../judge/trace_processor.ts";
import { built } from "../../setup/programs.ts";
import { compareSeen } from "../hidden_hits.ts";
import { lastOfThree } from "../last_of_three.ts";
import { allFormats, outputPath, startLlmprof, summaryOf } from "../live_run.ts";
import { loopDevice, slowReads } from "../loop_device.ts";
import { differingReplays } from "../replayed.ts";

/** What waits.c says of each wait, and at its end of the kernel's counters. */
interface Wait {
  readonly wait: string;
  readonly from: number;
  readonly to: number;
  readonly off: number;
  readonly waker: number;
}
interface Counters {
  readonly tid: number;
  readonly at: number;
  readonly on: number;
  readonly queued: number;
  readonly voluntary: number;
  readonly forced: number;
  readonly moves: number;
  readonly yields: number;
}
interface Off {
  readonly type: string;
  readonly category: string;
  readonly start: string;
  readonly end: string;
  readonly duration: number;
  readonly args: {
    readonly reason: string;
    readonly queuedNs?: number;
    readonly waker?: string;
    readonly taker?: string;
    readonly from?: number;
    /** Of short times off that are told together. */
    readonly thread?: number;
    readonly times?: number;
    readonly offNs?: number;
  };
  readonly track: { readonly tid?: number };
}

const HOG = 1, MS = 1e6;
/** Two percent or five milliseconds. */
const isNear = (a: number, b: number) => Math.abs(a - b) <= Math.max(0.02 * b, 5 * MS);
const near = (a: number, b: number, what: string) => assert.ok(isNear(a, b), `${what}: ${a / MS} ms, ${b / MS} expected`);

sampledTest(1, "sched: planted waits, each as long as it was, by its reason and waker; switches, moves and times as the kernel counts them", {
  fio: true,
  groups: true,
}, ({ path }) => compareSeen(() => comparesWaits(path)));

async function comparesWaits(path: string): Promise<boolean> {
  using folder = temporary();
  await using device = await loopDevice(folder, 4);
  using group = slowReads(device, 1 << 20);
  await using hog = start([built.hog, String(HOG)], { timeoutMilliseconds: 60_000 });
  using taken = takenProcessors("waits");
  const target = { argv: [built.waits, device.path, group.tasks, String(HOG)] };
  const before = switchesOfTheMachine();
  await using llmprof = startLlmprof("sched", { bpftrace: path, folder, target, formats: allFormats });
  const ended = await llmprof.finished();
  const { result, events } = summaryOf("sched", ended);
  // Every switch of the machine is a hit, and the kernel may skip one: that is said, and what it may concern is a time or two. Four it always may: where the
  // window opens and where it closes a line is sent with interrupts on, and one wakes bpftrace (waking, wakeup) on top of the program that sends it.
  const skipped = events.skipped!, switches = switchesOfTheMachine() - before;
  assert.deepEqual([events.lost, events.received], [skipped, events.emitted - skipped]);
  assert.ok(skipped <= 4 + 0.001 * switches, `${skipped} hits were skipped, of ${switches}`);
  const lines = ended.stderr.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  const counters: Counters = lines.at(-1);
  const waits: Wait[] = lines.slice(0, -1);
  assert.deepEqual(waits.map(({ wait }) => wait), [
    "moves",
    "disk",
    "lock",
    "lock",
    "condition",
    "sleep",
    "network",
    "events",
    "events",
    "io_uring",
    "preempted",
    "yielded",
  ]);
  // Of several short times off that are one slice, each.
  const slices = slicesOf(folder)
    .filter(({ category, track, args }) => /^sched\.offs?$/.test(category) && (args.thread ?? track.tid) === counters.tid)
    .flatMap((slice) =>
      Array.from({ length: slice.args.times ?? 1 }, () => (
        {
          ...slice,
          duration: (slice.args.offNs ?? slice.duration) / (slice.args.times ?? 1),
          args: { ...slice.args, queuedNs: (slice.args.queuedNs ?? 0) / (slice.args.times ?? 1) },
        }
      ))
    );
  const within = ({ from, to }: Wait) => slices.filter(({ start, end }) => Number(start) >= from && Number(end) <= to);
  // One of the few hits that the kernel skipped, as it says, was where a planted wait began.
  if (skipped > 0 && waits.slice(1).some((wait) => within(wait).length === 0)) return false;
  for (const planted of waits.slice(1)) {
    const { wait, off, waker } = planted;
    const inside = within(planted);
    const all = inside.reduce((sum, { duration }) => sum + duration, 0);
    near(all, off, `off in ${wait}`);
    const own = inside.filter(({ args }) => args.reason === wait || args.reason === "stopped");
    const isRunnable = wait === "preempted" || wait === "yielded";
    const waited = own.reduce((sum, { duration, args }) => sum + duration - (isRunnable ? 0 : args.queuedNs ?? 0), 0);
    const queued = inside.reduce((sum, { args }) => sum + (args.queuedNs ?? 0), 0);
    near(waited + (isRunnable ? 0 : queued), off, wait);
    if (["lock", "condition", "network", "events", "io_uring"].includes(wait)) {
      assert.equal(own.toSorted((a, b) => b.duration - a.duration)[0]!.args.waker, `waker (${waker})`, wait);
    }
    // By an interrupt, or a thread of the kernel's that answers for the device: by no program.
    if (wait === "disk") {
      const wakers = own.map(({ args }) => args.waker ?? "");
      assert.deepEqual(
        wakers.filter((waker) =>
          !/^(|idle|(kworker|loop|ksoftirqd|kthrotld|jbd2|rcu_|kswapd|kcompactd|khugepaged|migration|watchdog).* \(\d+\))$/.test(waker)
        ),
        [],
      );
      assert.ok(own.length >= 5, `${own.length} waits for the disk`);
    }
    if (wait === "sleep") assert.deepEqual(own.map(({ args }) => args.waker), [undefined], "a timer");
    if (wait === "preempted") {
      const byHog = own.filter(({ args }) => args.taker === `hog (${hog.pid})`).reduce((sum, { duration }) => sum + duration, 0);
      const theirs = taken.by(hog.pid, counters.tid, planted);
      // On a loud machine others take it, too.
      assert.ok(theirs > 0.1 * waited, `${theirs / MS} of ${waited / MS} ms were taken by the hog, by ftrace`);
      near(byHog, theirs, "taken by the hog");
    }
  }
  // It is taken from the thread between two calls that yield, too: once in a while.
  const yielding = within(waits.at(-1)!), yielded = yielding.filter(({ args }) => args.reason === "yielded");
  const others = yielding.length - yielded.length + skipped;
  assert.ok(Math.abs(counters.yields - yielded.length) <= others, `${yielded.length} of ${counters.yields} times that it yielded, ${others} others`);
  assert.ok(yielded.length > others && yielded.every(({ args }) => args.taker === undefined));
  // The kernel's own counters of the thread, from its first moment to the one at which they were read.
  const times = slices.filter(({ start, args }) => Number(start) < counters.at && args.reason !== "new");
  const forced = times.filter(({ args }) => args.reason === "preempted" || args.reason === "yielded").length;
  const differing = Math.abs(times.length - forced - counters.voluntary) + Math.abs(forced - counters.forced);
  const told = `${times.length - forced} and ${forced} switches, ${counters.voluntary} and ${counters.forced} by the kernel's count`;
  assert.ok(differing <= skipped, told);
  const thread = result.threads.find(({ tid }) => tid === counters.tid)!;
  near(thread.queuedNs, counters.queued, "waiting for a processor");
  near(thread.onNs, counters.on, "on a processor");
  const moves = waits[0]!;
  const moved = slices.filter(({ start, args }) => Number(start) >= moves.from && Number(start) < moves.to && args.from !== undefined);
  assert.ok(
    moved.length <= counters.moves && counters.moves - moved.length <= skipped,
    `${moved.length} moves of ${counters.moves}, ${skipped} skipped`,
  );
  // Then back to the first processor, and to the hog's.
  const migrations = counters.moves + 2;
  assert.ok(
    thread.migrations <= migrations && migrations - thread.migrations <= skipped,
    `${thread.migrations} migrations of ${migrations}, ${skipped} skipped`,
  );
  assert.equal(thread.name, "waits");
  assert.deepEqual(await differingReplays(folder, ["pftrace", "json", "jsonl"]), []);
  return true;
}

function slicesOf(folder: Temporary): Off[] {
  const lines = Deno.readTextFileSync(outputPath(folder, "jsonl")).trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line)).filter(({ type }) => type === "slice");
}

/** Context switches since the machine began, by the kernel's own count. */
const switchesOfTheMachine = () => Number(/^ctxt (\d+)$/m.exec(Deno.readTextFileSync("/proc/stat"))![1]);

/** So often somebody wakes the program's first thread under each name. */
const WAKES = 20;
const named = [
  ["a thread to which another one gives a name", "renamed.py", { renames: true }],
  ["who has the number of a process that ended", "same_number.py", {}],
] as const;

for (const [who, program, needs] of named) {
  sampledTest(1, `sched: ${who} is called so where it wakes somebody`, needs, async ({ path }) => {
    using folder = temporary();
    const target = { argv: ["python3", join(top, "tests/workloads", program), String(WAKES)] };
    await using llmprof = startLlmprof("sched", { bpftrace: path, folder, target, formats: ["jsonl"] });
    const ended = await llmprof.finished();
    summaryOf("sched", ended);
    const [, waker, names] = /^(\d+) (\w.*)$/m.exec(ended.stderr)!;
    const waits = slicesOf(folder).filter(({ category, args }) => category === "sched.off" && args.reason === "pipe");
    const told = waits.flatMap(({ args }) => args.waker?.endsWith(` (${waker})`) ? args.waker.split(" ")[0]! : []);
    assert.deepEqual([...new Set(told)], names!.split(" "), "each, in this order");
    // Now and then the byte is there already, and nobody waits.
    for (const name of names!.split(" ")) {
      const times = told.filter((one) => one === name).length;
      assert.ok(times > WAKES / 2 && times <= WAKES, `${times} times by ${name}: ${told}`);
    }
  });
}

interface Passes {
  readonly tid: number;
  readonly from: number;
  readonly to: number;
  readonly voluntary: number;
  readonly forced: number;
  /** Nanoseconds on no processor since it began, by its own clocks, where it says so. */
  readonly off?: number;
}

const THREADS = 16;

/** Who passes a byte on as fast as they can, so often each. */
const passing = {
  "two processes": { argv: (rounds: number) => [built.pipes, "1", String(rounds)], rounds: 300_007, passers: 2 },
  "sixteen threads": { argv: (rounds: number) => [built.ring, "1", String(THREADS), String(rounds)], rounds: 37_501, passers: THREADS },
};

for (const [who, { argv, rounds: most, passers }] of Object.entries(passing)) {
  sampledTest(1, `sched: as many switches as ${who} can make, each counted, and none lost on its way`, { judge: true }, async ({ name, path }) => {
    const rounds = name === "0.17" ? Math.round(most / 10) : most;
    const times = await lastOfThree(() => passed(path, argv(rounds), rounds, passers), (times) => times.every(({ told, is }) => isNear(told, is)));
    for (const { told, is, what } of times) near(told, is, what);
  });
}

/** Every switch is counted; returns times of who passed, as they are told and as they are, of which a machine that stands still spoils some. */
async function passed(path: string, argv: readonly string[], rounds: number, passers: number): Promise<{ told: number; is: number; what: string }[]> {
  using folder = temporary();
  await using llmprof = startLlmprof("sched", { bpftrace: path, folder, target: { argv } });
  const ended = await llmprof.finished();
  const { result, events } = summaryOf("sched", ended);
  assert.equal(events.lost, events.skipped, "what the kernel skipped is all that is lost");
  const passes = passesOf(ended.stderr), times = [];
  assert.ok(passes.length >= passers);
  for (const { tid, from, to, voluntary, forced, off } of passes.slice(0, passers)) {
    assert.ok(voluntary + forced >= 0.99 * rounds, `${voluntary} and ${forced} switches`);
    const rows = await query(outputPath(folder, "pftrace"), switchesBetween(tid, from, to));
    const [told, taken] = ["told", "taken"].map((kind) => Number(rows.find((row) => row.kind === kind)?.times ?? 0));
    const differing = Math.abs(told! - voluntary) + Math.abs(taken! - forced);
    assert.ok(differing <= events.skipped!, `${told} and ${taken} switches, ${voluntary} and ${forced} by getrusage, ${events.skipped} skipped`);
    const thread = result.threads.find((thread) => thread.tid === tid)!;
    assert.ok(thread.voluntary >= told!, "what comes before and after is more");
    times.push({ told: thread.seenNs, is: to - from, what: "while it was seen" });
    if (off !== undefined) {
      times.push({ told: thread.queuedNs + thread.waits.reduce((sum, { ns }) => sum + ns, 0), is: off, what: "off a processor" });
    }
  }
  return times;
}

/** Of each who passed; last, where there is one, of whoever waited for them. */
function passesOf(stderr: string): Passes[] {
  return stderr.split("\n").filter((line) => line.startsWith('{"tid"')).map((line) => JSON.parse(line));
}

/** Times off that began then, of a thread; one slice may be many. */
function switchesBetween(tid: number, from: number, to: number): string {
  const kind = "iif(extract_arg(s.arg_set_id, 'debug.reason') = 'preempted', 'taken', 'told') as kind";
  const then = `s.ts >= ${from} and s.ts <= ${to}`;
  return `select kind, sum(times) as times from (
    select ${kind}, 1 as times from slice s join thread_track t on t.id = s.track_id join thread using (utid)
    where s.category = 'sched.off' and thread.tid = ${tid} and ${then}
    union all
    select ${kind}, extract_arg(s.arg_set_id, 'debug.times') from slice s
    where s.category = 'sched.offs' and extract_arg(s.arg_set_id, 'debug.thread') = ${tid} and ${then}
  ) group by kind`;
}

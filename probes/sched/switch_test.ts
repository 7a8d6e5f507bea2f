import assert from "node:assert/strict";
import { render } from "../../lib/programs/render.ts";
import { recentDialect } from "../../tests/harness/dialect.ts";
import { Decoding } from "../../tests/harness/decoding.ts";
import { whoIs } from "../../lib/programs/who.ts";
import { systemCallName } from "../process/syscall_names.ts";
import { canWake, whyOf } from "./reason.ts";
import { switches } from "./switch.ts";

const INTERRUPTIBLE = 1,
  UNINTERRUPTIBLE = 2,
  STOPPED = 4,
  PREEMPTED = 256,
  NEW = 511,
  DEVICE = 512,
  FIFO = 1 << 10,
  TERMINAL = 2 << 10,
  REGULAR = 8 << 10,
  SOCKET = 12 << 10,
  LOCK_PI = 6 << 10,
  WAIT_BITSET = 9 << 10;
/** By its number on x86_64. */
const call = (number: number) => (number + 1) * 2 * 16384;
const READ = call(0),
  FUTEX = call(202),
  NANOSLEEP = call(35),
  RECVFROM = call(45),
  EPOLL = call(232),
  GETEVENTS = call(208),
  FSYNC = call(74),
  FCNTL = call(72),
  IO_URING = call(426),
  MUNMAP = call(11),
  IOCTL = call(16),
  OPENAT = call(257),
  GETDENTS = call(217),
  RENAME = call(82),
  SCHED_YIELD = call(24),
  COPY_FILE_RANGE = call(326),
  CLOSE = call(3),
  SENDFILE = call(40),
  PREADV = call(295),
  PWRITEV2 = call(328);

Deno.test("switch: why a thread is off, by its state, its system call and what it reads", () => {
  const reasons: [number, string, string | undefined][] = [
    [PREEMPTED, "preempted", undefined],
    [0, "preempted", undefined],
    [SCHED_YIELD, "yielded", "sched_yield"],
    [PREEMPTED + SCHED_YIELD, "preempted", undefined],
    [NEW, "new", undefined],
    [STOPPED, "stopped", undefined],
    [UNINTERRUPTIBLE + DEVICE, "page fault", undefined],
    [UNINTERRUPTIBLE, "kernel", undefined],
    [INTERRUPTIBLE, "other", undefined],
    [UNINTERRUPTIBLE + DEVICE + READ, "disk", "read"],
    [INTERRUPTIBLE + SOCKET + READ, "network", "read"],
    [INTERRUPTIBLE + FIFO + READ, "pipe", "read"],
    [INTERRUPTIBLE + READ, "events", "read"],
    [INTERRUPTIBLE + TERMINAL + READ, "events", "read"],
    [UNINTERRUPTIBLE + DEVICE + REGULAR + READ, "disk", "read"],
    // A user's file system, and a network's without a cache.
    [INTERRUPTIBLE + REGULAR + READ, "file", "read"],
    [UNINTERRUPTIBLE + REGULAR + READ, "file", "read"],
    [UNINTERRUPTIBLE + REGULAR + PREADV, "file", "preadv"],
    [INTERRUPTIBLE + SOCKET + PWRITEV2, "network", "pwritev2"],
    [INTERRUPTIBLE + TERMINAL + PWRITEV2, "events", "pwritev2"],
    // The same, before anything is read; a disk of this machine is waited for as a device.
    [INTERRUPTIBLE + OPENAT, "file", "openat"],
    [UNINTERRUPTIBLE + GETDENTS, "file", "getdents64"],
    [UNINTERRUPTIBLE + RENAME, "file", "rename"],
    [INTERRUPTIBLE + COPY_FILE_RANGE, "file", "copy_file_range"],
    [UNINTERRUPTIBLE + DEVICE + OPENAT, "disk", "openat"],
    // Of a socket or of a device as well as of a file, and into a socket.
    [INTERRUPTIBLE + CLOSE, "other", "close"],
    [UNINTERRUPTIBLE + CLOSE, "kernel", "close"],
    [INTERRUPTIBLE + SENDFILE, "other", "sendfile"],
    [INTERRUPTIBLE + DEVICE + IO_URING, "io_uring", "io_uring_enter"],
    [INTERRUPTIBLE + IO_URING, "io_uring", "io_uring_enter"],
    [UNINTERRUPTIBLE + DEVICE + IO_URING, "disk", "io_uring_enter"],
    [INTERRUPTIBLE + FUTEX, "lock", "futex"],
    [INTERRUPTIBLE + LOCK_PI + FUTEX, "lock", "futex"],
    [INTERRUPTIBLE + FCNTL, "lock", "fcntl"],
    [INTERRUPTIBLE + WAIT_BITSET + FUTEX, "condition", "futex"],
    [INTERRUPTIBLE + NANOSLEEP, "sleep", "nanosleep"],
    [INTERRUPTIBLE + RECVFROM, "network", "recvfrom"],
    [INTERRUPTIBLE + EPOLL, "events", "epoll_wait"],
    [INTERRUPTIBLE + GETEVENTS, "disk", "io_getevents"],
    [UNINTERRUPTIBLE + FSYNC, "disk", "fsync"],
    [UNINTERRUPTIBLE + MUNMAP, "kernel", "munmap"],
    [INTERRUPTIBLE + IOCTL, "device", "ioctl"],
    // On aarch64 98 is futex.
    [INTERRUPTIBLE + (99 * 2 + 1) * 16384, "lock", "futex"],
  ];
  for (const [number, reason, name] of reasons) {
    const why = whyOf(number);
    assert.deepEqual([why.reason, why.call], [reason, name], String(number));
  }
});

Deno.test("switch: what it reads or writes is looked at in all calls that do, of either kind of processor, and in no other", () => {
  const { transfers } = switches.params!;
  assert.ok(transfers!.type === "arch");
  for (const arch of ["x86_64", "aarch64"] as const) {
    const isTransfer = new Function("$number", `return ${transfers[arch]}`) as (number: number) => boolean;
    const found = [-1, ...Array(500).keys()].filter(isTransfer).map((number) => systemCallName(number, arch)).sort();
    assert.deepEqual(found, ["pread64", "preadv", "preadv2", "pwrite64", "pwritev", "pwritev2", "read", "readv", "write", "writev"], arch);
  }
});

Deno.test("switch: who can have woken a thread, and when it was an interrupt that came meanwhile", () => {
  const lock = whyOf(INTERRUPTIBLE + FUTEX), disk = whyOf(UNINTERRUPTIBLE + DEVICE + READ), sleep = whyOf(INTERRUPTIBLE + NANOSLEEP);
  const [kernel, futex, clockGettime] = [0, 203, 229];
  assert.deepEqual([kernel, futex, clockGettime].map((call) => canWake(lock, call)), [true, true, false]);
  const [write, close, fcntl] = [2, 4, 73];
  assert.deepEqual([write, close, fcntl].map((call) => canWake(whyOf(INTERRUPTIBLE + FCNTL), call)), [false, true, true]);
  assert.deepEqual([kernel, futex].map((call) => canWake(disk, call)), [true, false]);
  assert.deepEqual([kernel, futex].map((call) => canWake(sleep, call)), [false, false]);
  // A program that answers for a file (FUSE), and one that only writes while a disk answers.
  const fault = whyOf(UNINTERRUPTIBLE + DEVICE);
  for (const why of [disk, fault]) assert.deepEqual([write, write + 512].map((call) => canWake(why, call)), [false, true], why.reason);
});

Deno.test("switch: who wakes one that waits for a device is looked at in the calls by which programs answer for files, and in no other", () => {
  for (const arch of ["x86_64", "aarch64"] as const) {
    const found = (name: string) => {
      const param = switches.params![name]!;
      assert.ok(param.type === "arch");
      const isOne = new Function("$number", `return ${param[arch]}`) as (number: number) => boolean;
      return [-1, ...Array(500).keys()].filter(isOne).map((number) => systemCallName(number, arch)).sort();
    };
    assert.deepEqual([found("answers"), found("splices")], [["splice", "write", "writev"], ["splice"]], arch);
  }
});

Deno.test("switch: a time off with its wait for a processor inside, who woke and who took, and a thread's name once", () => {
  const d = new Decoding(switches);
  d.event(5, "sched/switch.task", { name: "worker" }, "100/101");
  d.event(6, "sched/switch.task", { name: "waker" }, "200/201");
  d.event(7, "sched/switch.taker", { id: 300, name: "hog" });
  const thread = whoIs(100, 101);
  const cpus = (wakes: number, from: number, to: number) => wakes * 2 ** 24 + from * 4096 + to;
  d.event(50, "sched/switch.off", { thread, left: 10, queued: 8, why: INTERRUPTIBLE + FUTEX, waker: whoIs(200, 201), cpus: cpus(203, 0, 1) });
  d.event(70, "sched/switch.off", { thread, left: 60, why: PREEMPTED, taker: 300, cpus: cpus(0, 1, 1) });
  d.event(90, "sched/switch.off", { thread, left: 80, why: INTERRUPTIBLE + NANOSLEEP, waker: whoIs(200, 201), queued: 1, cpus: cpus(229, 1, 1) });
  d.event(93, "sched/switch.task", { name: "renamed" }, "100/101");
  d.event(99, "sched/switch.still", { thread, left: 95, why: INTERRUPTIBLE + FUTEX, cpus: cpus(0, 1, 1) });
  assert.deepEqual(d.end(100), [
    '100/101 is called "worker" from 50',
    '100/101 sched.queue "waits for a processor" 42–50',
    '100/101 sched.off "lock (futex)" 10–50 reason=lock call=futex queuedNs=8 waker=waker (201) cpu=1 from=0',
    '100/101 sched.off "preempted" 60–70 reason=preempted queuedNs=10 taker=hog (300) cpu=1',
    '100/101 sched.queue "waits for a processor" 89–90',
    '100/101 sched.off "sleep (nanosleep)" 80–90 reason=sleep call=nanosleep queuedNs=1 cpu=1',
    '100/101 is called "renamed" from 99',
    '100/101 sched.off "lock (futex)" 95–99 (open) reason=lock call=futex cpu=1',
  ]);
});

Deno.test("switch: who took a processor is llmprof's where it was told which threads are, and where nobody said so, by its name", () => {
  const d = new Decoding(switches);
  const took = (taker: number) => {
    d.event(20, "sched/switch.off", { thread: whoIs(100, 101), left: 10, why: PREEMPTED, taker });
    return d.spans.splice(0).map((span) => span.type === "slice" && span.off!.taker);
  };
  const deno = { tid: 300, name: "deno" }, worker = { tid: 301, name: "V8 DefaultWorke" };
  for (const { tid, name } of [deno, worker]) d.event(5, "sched/switch.taker", { id: tid, name });
  assert.deepEqual([...took(300), ...took(301)], [{ ...deno, traces: true }, { ...worker, traces: false }]);
  d.fact(9, { fact: "tracers", threads: [299, 301] });
  assert.deepEqual([...took(300), ...took(301)], [{ ...deno, traces: false }, { ...worker, traces: true }]);
});

Deno.test("switch: who goes on with what it was stopped in, or woken for nothing, waits for the same as before", () => {
  const d = new Decoding(switches);
  const RESTART = call(219), POLL = call(7), MMAP = call(9);
  const off = (why: number, tid = 101) => {
    d.event(20, "sched/switch.off", { thread: whoIs(100, tid), left: 10, why });
    const [slice] = d.spans.splice(0);
    return slice!.type === "slice" && [slice!.off!.reason, slice!.off!.call];
  };
  assert.deepEqual(off(INTERRUPTIBLE + RESTART), ["other", "restart_syscall"], "what it was in nobody knows");
  assert.deepEqual(off(INTERRUPTIBLE + POLL), ["events", "poll"]);
  assert.deepEqual(off(STOPPED + POLL), ["stopped", undefined]);
  assert.deepEqual(off(INTERRUPTIBLE + RESTART), ["events", "poll"]);
  assert.deepEqual(off(INTERRUPTIBLE + RESTART, 102), ["other", "restart_syscall"], "another thread");
  assert.deepEqual(off(STOPPED + WAIT_BITSET + FUTEX), ["stopped", undefined], "it came there without having left its processor");
  assert.deepEqual(off(UNINTERRUPTIBLE + MMAP), ["kernel", "mmap"], "none that goes on so");
  assert.deepEqual(off(INTERRUPTIBLE + RESTART), ["condition", "futex"]);
  assert.deepEqual(off(INTERRUPTIBLE + NANOSLEEP), ["sleep", "nanosleep"]);
  assert.deepEqual(off(INTERRUPTIBLE + RESTART), ["sleep", "nanosleep"]);
});

Deno.test("switch: threads of two processes that had one number, and were called alike, have their name each", () => {
  const d = new Decoding(switches);
  for (const pid of [100, 200]) {
    d.event(pid, "sched/switch.task", { name: "worker" }, `${pid}/301`);
    d.event(pid + 9, "sched/switch.off", { thread: whoIs(pid, 301), left: pid, why: PREEMPTED });
  }
  // A new one has said nothing yet.
  d.event(309, "sched/switch.off", { thread: whoIs(300, 301), left: 300, why: NEW });
  assert.deepEqual(d.end(400).filter((line) => line.includes("called")), [
    '100/301 is called "worker" from 109',
    '200/301 is called "worker" from 209',
  ]);
});

Deno.test("switch: who yields waits for a processor, and nobody took it", () => {
  const d = new Decoding(switches);
  d.event(70, "sched/switch.off", { thread: whoIs(100, 101), left: 60, why: SCHED_YIELD, cpus: 4097 });
  const times = 57 * 2 ** 34 + 4097;
  d.event(90, "sched/switch.run", { thread: whoIs(100, 101), left: 80, times: 9 * 2 ** 20 + 9, why: SCHED_YIELD, cpus: times });
  assert.deepEqual(d.end(100), [
    '100/101 sched.off "yielded (sched_yield)" 60–70 reason=yielded call=sched_yield queuedNs=10 cpu=1',
    '100 <short preemptions, 101> sched.offs "yielded (sched_yield) × 57" 80–89 reason=yielded call=sched_yield queuedNs=9 cpu=1 thread=101 times=57 offNs=9',
  ]);
});

Deno.test("switch: of who still wants to run the call is told where it is the one that yields, and then nobody took the processor", () => {
  for (const [arch, number] of [["x86_64", 24], ["aarch64", 124]] as const) {
    assert.equal(systemCallName(number, arch), "sched_yield");
    const plan = { stream: "s", probes: [switches], filter: { type: "tree", pids: [42] }, window: "signalled" } as const;
    const { text } = render(plan, { ...recentDialect, arch }, () => []);
    const [, ofRunnable] = /if \(\$state == 0\) \{([^]*?)\n {4}\}/.exec(text)!;
    assert.match(ofRunnable!, new RegExp(`\\$number = [^]*if \\(\\(\\$number == ${number}\\)\\) \\{ \\$call = `));
    assert.match(text, /if \(\$state % 256 == 0 && \$call == 0\) \{ \$taken = \(uint64\)1; \}[^]*\$taken \* \$next/);
  }
});

Deno.test("switch: whoever is given another name is told anew, by whomever it is given; where the kernel does not say to whom, who gives it", () => {
  const plan = { stream: "s", probes: [switches], filter: { type: "tree", pids: [42] }, window: "signalled" } as const;
  const forgets = [true, false].map((isSaid) => {
    const { text } = render(plan, { ...recentDialect, hasTracepoint: (name) => isSaid || !name.includes(".") }, () => []);
    return /^tracepoint:task:task_rename \{([^]*?)\}$/m.exec(text)![1]!.trim().split(/\s*\n\s*/).filter((line) => line !== "");
  });
  const [forget, own] = ["delete(@named[$renamed]);", "$renamed = (uint64)tid;"];
  assert.deepEqual(forgets, [[own, "$renamed = (uint64)args->pid;", forget], [own, forget]]);
});

Deno.test("switch: who came back unseen was off until then, and waited for a processor within that", () => {
  const d = new Decoding(switches);
  const period = { thread: whoIs(100, 101), why: INTERRUPTIBLE + NANOSLEEP, cpus: 4097 };
  d.event(60, "sched/switch.unseen", { ...period, left: 10, queued: 6, ran: 20 });
  // More than there was: a class of threads for which the kernel keeps no such book.
  d.event(90, "sched/switch.unseen", { ...period, left: 60, ran: 500 });
  assert.deepEqual(d.ending(100).flatMap((span) => span.type === "slice" ? [[span.category, span.start, span.end]] : []), [
    ["sched.queue", 34, 40],
    ["sched.off", 10, 40],
    ["sched.off", 60, 60],
  ]);
});

Deno.test("switch: the longest run that a record can hold, of a thread that was taken from its processor", () => {
  const d = new Decoding(switches);
  d.event(9e6, "sched/switch.run", { thread: whoIs(100, 101), left: 50_000, times: 2 ** 53 - 1, why: 256, cpus: 700 * 2 ** 34 });
  const [slice] = d.ending(1e7);
  assert.ok(slice?.type === "slice");
  assert.deepEqual([slice.name, slice.track.name, slice.start, slice.end], [
    "preempted × 700",
    "short preemptions, 101",
    50_000,
    50_000 + 2 ** 20 - 1,
  ]);
  assert.deepEqual([slice.off!.run!.ns, slice.off!.queuedNs], [2 ** 20 - 1, 2 ** 20 - 1]);
});

Deno.test("switch: a run of more than a millisecond is told in units of eight nanoseconds", () => {
  const d = new Decoding(switches);
  const run = { thread: whoIs(100, 101), left: 50_000, why: 256, cpus: 700 * 2 ** 34 };
  d.event(9e6, "sched/switch.run", { ...run, times: 5000 * 2 ** 40 + 400_000 * 2 ** 20 + 500_000, taker: 2 ** 32 + 300 });
  d.event(19e6, "sched/switch.run", { ...run, left: 10e6, times: 5000 * 2 ** 40 + 500_000, why: INTERRUPTIBLE + FIFO + READ, taker: 2 ** 32 });
  const [taken, waiting] = d.ending(2e7).flatMap((span) => span.type === "slice" ? [span] : []);
  assert.deepEqual([taken!.end - taken!.start, taken!.off!.run!.ns, taken!.off!.taker!.tid], [5000 * 1024, 4_000_004, 300]);
  assert.deepEqual([waiting!.off!.run!.ns, waiting!.off!.queuedNs], [4_000_004, 0]);
});

Deno.test("switch: several short times off are one slice on a row of their own, with what they are together", () => {
  const d = new Decoding(switches);
  d.event(5, "sched/switch.task", { name: "waker" }, "200/201");
  const times = 57, queued = 900, ns = 40_000;
  d.event(200_000, "sched/switch.run", {
    thread: whoIs(100, 101),
    left: 50_000,
    times: 800 * 2 ** 40 + queued * 2 ** 20 + ns,
    why: INTERRUPTIBLE + FIFO + READ,
    waker: whoIs(200, 201),
    cpus: times * 2 ** 34 + 2 * 2 ** 24 + 3 * 4096 + 3,
  });
  const [slice] = d.ending(300_000);
  assert.ok(slice?.type === "slice");
  assert.deepEqual([slice.name, slice.start, slice.end, slice.track.kind], ["pipe (read) × 57", 50_000, 152_400, "lane"]);
  assert.deepEqual(slice.args, { reason: "pipe", call: "read", queuedNs: 900, waker: "waker (201)", cpu: 3, thread: 101, times: 57, offNs: 40_000 });
  assert.deepEqual([slice.off!.run!.thread.tid, slice.off!.run!.times, slice.off!.run!.ns], [101, 57, 40_000]);
});

Deno.test("switch: on which processors a process may run is an instant of its first thread, with those of its threads that may run on others", () => {
  const d = new Decoding(switches);
  d.fact(5, { fact: "affinity", pid: 100, affinity: "0-3", threads: [{ tid: 101, affinity: "2" }, { tid: 102, affinity: "0,3" }] });
  const [instant] = d.ending(10);
  assert.ok(instant?.type === "instant");
  assert.deepEqual([instant.at, instant.track.tid, instant.args], [5, 100, { processors: "0-3", others: "101: 2; 102: 0,3" }]);
});

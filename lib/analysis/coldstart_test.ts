import assert from "node:assert/strict";
import type { Slice, Span } from "../events/span.ts";
import { coldstart, type ColdstartOptions } from "./coldstart.ts";
import { coldstartLane } from "./coldstart_lane.ts";
import { presentColdstart } from "./coldstart_present.ts";
import { type ColdstartResult, coldstartResultSchema } from "./coldstart_schema.ts";
import { analyse, byEnd, MS, seeded, TestSpans } from "../../tests/harness/spans.ts";

const MIB = 1048576;

function run(spans: readonly Span[], options?: ColdstartOptions): ColdstartResult {
  const result = analyse(coldstart(options), spans);
  assert.deepEqual(coldstartResultSchema.parse(result), result);
  const sum = (list: readonly { durationNs?: number; totalNs?: number }[]) => list.reduce((total, x) => total + (x.durationNs ?? x.totalNs ?? 0), 0);
  assert.equal(sum(result.steps), result.totalNs, "steps sum to the total");
  assert.equal(sum(result.kinds), result.totalNs, "kinds sum to the total");
  for (const view of presentColdstart(result)) {
    if (view.type !== "waterfall") continue;
    assert.ok(view.steps.length <= 30);
    assert.equal(view.steps.reduce((at, step) => (assert.equal(step.start, at), at + step.duration), 0), view.total);
  }
  return result;
}

const notes = (result: ColdstartResult) => presentColdstart(result).flatMap((view) => (view.type === "note" ? [view.text] : [])).join("\n");
const steps = (result: ColdstartResult) => result.steps.map((step) => `${step.name} ${step.durationNs / MS}`);

Deno.test("from exec to the first token: each instant goes to what explains it best", () => {
  const s = new TestSpans();
  const result = run(byEnd([
    s.exec(10, "engine"),
    s.slice("library.load", 20, 40, { file: "libllama.so", bytes: 5 * MIB }),
    s.slice("llama.load", 50, 150),
    s.open("m.gguf", 60, 61),
    s.read("m.gguf", 61, 100, 40 * MIB),
    s.slice("memory.lock", 110, 130, { bytes: 17 * MIB, errno: 0 }),
    s.slice("llama.context", 150, 170),
    s.slice("socket.listen", 170, 171, { fd: 3, errno: 0 }),
    s.slice("llama.encode", 171, 172, { tokens: 3, ret: 0 }),
    ...[172, 190, 235].map((at) => s.accept(at)),
    s.decode("prefill", 200, 230, 32),
    s.sample(231, 232),
    s.decode("decode", 233, 240),
    s.read("later.txt", 250, 260),
    s.exit(300),
    s.counter("page faults", 90, 700),
    s.counter("page faults", 290, 900),
    s.counter("page cache filled: m.gguf", 290, 40 * MIB),
  ]));
  assert.deepEqual(result.root, { pid: 100, file: "engine", execNs: 10 * MS, execSeen: true });
  assert.deepEqual([result.end, result.timeToFirstTokenNs, result.firstTokenBasis], ["first token", 222 * MS, "sampling"]);
  assert.deepEqual(steps(result), [
    "unexplained 10",
    "load libllama.so 20",
    "unexplained 10",
    "model load (compute, allocation) 10",
    "read m.gguf 40",
    "model load (compute, allocation) 10",
    "mlock 20",
    "model load (compute, allocation) 20",
    "create context 20",
    "listen 1",
    "llama_encode 1",
    "unexplained 28",
    "prefill 31", // and the millisecond after it
    "sampling 1",
  ]);
  assert.equal(result.steps[4]!.note, "40.0 MiB at 1049 MB/s, 2 reads and opens");
  assert.deepEqual(result.milestones.map(({ name, atNs }) => [name, atNs / MS]), [
    ["model load begins", 40],
    ["model loaded", 140],
    ["context ready", 160],
    ["listening", 160],
    ["connection accepted", 180],
    ["first llama_decode", 190],
    ["first token", 222],
  ]);
  assert.deepEqual([result.pageFaults, result.pageCache!.bytes, result.locks.lockedBytes], [900, 40 * MIB, 17 * MIB]);
  assert.ok(!result.steps.some((step) => step.name.includes("later.txt")));
  assert.ok(result.phases.some((phase) => phase.file === "later.txt"), "of a program that goes on, what it does next is told too");
  assert.equal(notes(result), "");
  const lane = coldstartLane(result, s.tracks);
  assert.deepEqual([lane.length, lane[0]!.start, lane.at(-1)!.end, lane[0]!.track.name], [14, 10 * MS, 232 * MS, "cold start"]);
});

Deno.test("a file that two threads read at once came at the rate of both", () => {
  const s = new TestSpans();
  const reads = ([[101, 10], [102, 10.001]] as const).map(([tid, from]) => s.of(100, tid).read("m.gguf", from, 50, 40 * MIB));
  const result = run([s.exec(0), ...reads, s.exit(60)]);
  const step = result.steps.find(({ file }) => file === "m.gguf")!;
  // 83,886,080 bytes in 40 ms.
  assert.deepEqual([step.durationNs, step.note], [40 * MS, "80.0 MiB at 2097 MB/s, 2 reads and opens"]);
});

Deno.test("a file was read at the rate of the time in which its process ran, not of that in which llmprof held it", () => {
  const s = new TestSpans();
  const result = run([s.exec(0), s.read("m.gguf", 10, 20, 10 * MIB), s.stop(20, 120), s.read("m.gguf", 120, 130, 10 * MIB), s.exit(140)]);
  const step = result.steps.find(({ file }) => file === "m.gguf")!;
  // 20,971,520 bytes in 20 ms.
  assert.deepEqual([step.durationNs, step.note], [20 * MS, "20.0 MiB at 1049 MB/s, 2 reads and opens"]);
  // One that stands holds up no other.
  const two = run([s.exec(0), s.fork(1, 200), s.stop(20, 120), s.of(200).read("n.gguf", 10, 130, 120 * MIB), s.exit(140)]);
  assert.equal(two.steps.find(({ file }) => file === "n.gguf")!.note, "120.0 MiB at 1049 MB/s");
  const both = [s.read("n.gguf", 10, 15, 5 * MIB), s.stop(20, 120), s.of(200).read("n.gguf", 10, 130, 115 * MIB)];
  assert.match(
    run([s.exec(0), s.fork(1, 200), ...both, s.exit(140)]).steps.find(({ file }) => file === "n.gguf")!.note!,
    /^120\.0 MiB at 1049 MB\/s/,
  );
});

Deno.test("planted phases in any order: each as long as the program's own log says, stops taken out", () => {
  for (let seed = 1; seed <= 40; seed++) planted(seed);
});

/** A program that does known things one after another, in random order, with a stop at its dlopen; and what must be seen of each. */
function planted(seed: number): void {
  const random = seeded(seed);
  const s = new TestSpans();
  const spans: Span[] = [s.exec(0)];
  const log: { kind: string; from: number; took: number; file?: string; bytes?: number }[] = [];
  let t = 5;
  const parts: (() => void)[] = [
    () => {
      const from = t;
      spans.push(s.open("data", t, t += 0.1, 1));
      for (let i = 0; i < 97; i++) spans.push(s.read("data", t + 0.1, t += 0.5 + random(10) / 10, MIB, 1));
      log.push({ kind: "read", from, took: t - from, file: "data", bytes: 97 * MIB });
    },
    () => {
      const from = t;
      spans.push(s.map("weights", t, t += 0.05, 61 * MIB));
      for (let i = 0; i < 5; i++) {
        spans.push(s.touch("weights", t + 0.2, t += 8, 1000), s.touch("libc.so.6", t + 0.1, t += 0.2, 1));
      }
      log.push({ kind: "fault", from, took: t - from - 0.2, file: "weights", bytes: 61 * MIB });
    },
    () => {
      log.push({ kind: "lock", from: t, took: 7, bytes: 17 * MIB });
      spans.push(s.slice("memory.lock", t, t += 7, { bytes: 17 * MIB, errno: 0 }));
    },
    () => {
      log.push({ kind: "listen", from: t, took: 0.02 });
      spans.push(s.slice("socket.listen", t, t += 0.02, { fd: 3, errno: 0 }));
    },
    () => {
      log.push({ kind: "unexplained", from: t, took: 500 });
      t += 500;
    },
    () => {
      const from = t;
      spans.push(s.open("libllama.so", t, t + 0.1), s.read("libllama.so", t + 0.1, t + 0.2, 832));
      spans.push(s.slice("library.load", t, t + 0.5, { file: "libllama.so", bytes: 2 * MIB }));
      spans.push(s.stop(t + 0.6, t + 90.6), s.slice("library.load", t + 0.55, t + 91, { file: "libllama.so", bytes: MIB }));
      t += 91;
      log.push({ kind: "library", from, took: 1, file: "libllama.so", bytes: 2 * MIB });
      log.push({ kind: "decode", from: t, took: 11 });
      spans.push(s.decode("prefill", t, t += 11, 1));
    },
  ];
  while (parts.length > 0) {
    parts.splice(random(parts.length), 1)[0]!();
    t += 1;
  }
  spans.push(s.exit(t));
  // Stretches of faults are reported late: when the thread's next one begins, or at the end.
  const late = spans.filter((span) => span.type === "slice" && span.category === "memory.touch");
  const result = run([...byEnd(spans.filter((span) => !late.includes(span))), ...late]);
  for (const { kind, from, took, file, bytes } of log) {
    const found = result.phases.filter((phase) => phase.kind === kind && (kind !== "fault" || phase.file === file));
    const best = found.sort((a, b) => Math.abs(a.startNs / MS - from) - Math.abs(b.startNs / MS - from))[0];
    assert.ok(best, `seed ${seed}: no ${kind}`);
    assert.ok(Math.abs(best.durationNs / MS - took) <= Math.max(5, took * 0.02), `seed ${seed}: ${kind} ${best.durationNs / MS} instead of ${took}`);
    if (bytes !== undefined) assert.equal(best.bytes, bytes, `seed ${seed}: ${kind}`);
    if (kind === "library") assert.ok(Math.abs(best.stoppedNs - 90 * MS) < 1);
  }
  assert.equal(result.firstTokenBasis, "last call");
  assert.match(notes(result), /warm-up/);
}

Deno.test("of a client it is said that what it asks for runs elsewhere, unless that is among its children", () => {
  const s = new TestSpans();
  const waits = (file: string, ...more: Span[]) => notes(run(byEnd([s.exec(0, file), s.running(1, "ld.so"), ...more, s.exit(500)])));
  const elsewhere =
    /What docker asks for runs under another process, and nothing of it was seen: llmprof coldstart, without a program, waits .*--pid N\.(?!\.)/;
  const sched = /--layers coldstart,sched/;
  assert.match(waits("docker"), elsewhere);
  assert.doesNotMatch(waits("docker"), sched);
  assert.match(waits("engine"), sched);
  const seen = waits("docker", s.slice("library.load", 5, 10, { file: "libllama.so", bytes: MIB }));
  assert.doesNotMatch(seen, elsewhere);
  assert.match(seen, sched);
});

Deno.test("the tree counts, others do not", () => {
  const s = new TestSpans(), child = s.of(200), grandchild = s.of(300), stranger = s.of(400);
  const result = run([
    s.exec(0),
    s.fork(1, 200),
    child.fork(2, 300),
    stranger.exec(3),
    stranger.stop(4, 20),
    stranger.read("x", 4, 20),
    stranger.counter("page faults", 5, 1000),
    child.stop(10, 20),
    grandchild.counter("page faults", 5, 3),
    child.counter("page faults", 5, 4),
    grandchild.read("m.gguf", 5, 25),
    grandchild.decode("prefill", 25, 30),
    grandchild.sample(30, 31),
  ]);
  assert.deepEqual([result.processes, result.pageFaults, result.stoppedNs, result.totalNs], [3, 7, 10 * MS, 21 * MS]);
  assert.deepEqual(steps(result), ["unexplained 5", "read m.gguf 10", "prefill 5", "sampling 1"]);
  assert.equal(coldstartLane(result, s.tracks)[0]!.track.pid, 100);
});

Deno.test("a server listens when a client can reach it, not when it makes a socket for its own workers", () => {
  const s = new TestSpans(), worker = s.of(200);
  const listen = (who: TestSpans, at: number, port?: number, errno = 0) =>
    who.slice("socket.listen", at, at + 0.01, { fd: 3, errno, ...port !== undefined && { port } });
  const listening = (...spans: readonly Span[]) => {
    const result = run([s.exec(0), s.fork(1, 200), ...spans, s.exit(90)]);
    const told = presentColdstart(result).flatMap((view) => view.type === "facts" ? view.facts : []).find(({ name }) => name === "  listening");
    return [...result.milestones.filter(({ name }) => name === "listening").map(({ atNs }) => atNs / MS), ...told?.note ? [told.note] : []];
  };
  assert.deepEqual(listening(listen(s, 5), listen(worker, 10, 41234), listen(s, 50, 8000), listen(s, 60, 8001)), [50, "port 8000"]);
  // It hands all of it on to one that it has started.
  assert.deepEqual(listening(listen(s, 5), listen(worker, 10, 8000)), [10, "port 8000"]);
  // What starts it has a port of its own, at which nobody was seen to come.
  assert.deepEqual(listening(listen(s, 5, 29500), listen(worker, 10, 8000), worker.accept(20)), [10, "port 8000"]);
  assert.deepEqual(listening(listen(s, 5), listen(worker, 10, 8000), s.accept(20)), [10, "port 8000"]);
  assert.deepEqual(listening(listen(worker, 5), listen(s, 10)), [10]);
  assert.deepEqual(listening(listen(s, 5, 8000, 98)), []);
  // What comes behind the token had nothing to do with it.
  const answer = [worker.decode("prefill", 20, 30), worker.sample(30, 31)];
  assert.deepEqual(listening(listen(worker, 5, 8000), ...answer, listen(s, 50, 9000)), [5, "port 8000"]);
  // Nor has it where another context may still turn out to be the one that answers.
  const contexts = [1, 2].map((context) => worker.slice("llama.context", 2, 3, { ok: true, context }));
  const late = [...contexts, listen(worker, 5, 8000), ...answer, listen(s, 50, 9000), worker.decode("decode", 60, 61), worker.sample(61, 62)];
  assert.deepEqual(listening(...late), [5, "port 8000"]);
});

Deno.test("a connection is accepted by who hears the client, not by the worker that it hands on to", () => {
  const s = new TestSpans(), router = s.of(200), worker = s.of(300);
  const start = [s.exec(0), s.fork(1, 200), router.fork(2, 300)];
  const answer = [worker.decode("prefill", 50, 60), worker.sample(60, 61)];
  const accepted = (accepts: readonly Span[], options?: ColdstartOptions) =>
    run([...options ? [s.exec(0)] : start, ...accepts, ...answer], options).milestones.filter(({ name }) => name === "connection accepted").map((
      { atNs },
    ) => atNs / MS);
  assert.deepEqual(accepted([worker.accept(5), router.accept(20), worker.accept(40)]), [20]);
  assert.deepEqual(accepted([worker.accept(5), worker.accept(40)]), [40]);
  // Nobody saw the forks.
  assert.deepEqual(accepted([router.accept(20), worker.accept(40)], { rootPid: 100, tree: [[200], [300]] }), [20]);
  // One that looks whether it still lives, meanwhile; or all that was seen of one that asked.
  assert.deepEqual(accepted([router.accept(20), router.accept(55), router.accept(59)]), [20]);
  assert.deepEqual(accepted([router.accept(55)]), [55]);
});

Deno.test("who asked for the token came before the process that loads the model for it, and not while it loads", () => {
  const s = new TestSpans(), runner = s.of(200), worker = s.of(300), proxy = s.of(400);
  const answer = (who: TestSpans) => [who.decode("prefill", 50, 60), who.sample(60, 61)];
  const accepted = (...spans: readonly Span[]) =>
    run([s.exec(0), ...spans]).milestones.filter(({ name }) => name === "connection accepted").map(({ atNs }) => atNs / MS);
  assert.deepEqual(accepted(s.accept(5), s.accept(10), s.fork(11, 200), s.accept(48), ...answer(runner)), [10]);
  // What that process starts itself belongs to the same.
  assert.deepEqual(accepted(s.accept(10), s.fork(11, 200), s.accept(30), runner.fork(31, 300), s.accept(48), ...answer(worker)), [10]);
  // It was loaded long before: who came then had only looked after the server's health.
  const loads = [runner.slice("llama.load", 12, 30), runner.slice("llama.context", 30, 32)];
  assert.deepEqual(accepted(s.accept(10), s.fork(11, 200), ...loads, s.accept(48), ...answer(runner)), [48]);
  assert.deepEqual(accepted(s.accept(10), s.fork(11, 200), s.accept(20), ...loads, ...answer(runner)), [10]);
  // It was there before anybody asked.
  assert.deepEqual(accepted(s.fork(11, 200), s.accept(12), s.accept(48), ...answer(runner)), [48]);
  // Who hears another process's clients did not start it.
  assert.deepEqual(accepted(s.fork(1, 400), proxy.accept(5), s.fork(11, 200), runner.accept(48), ...answer(runner)), [48]);
});

Deno.test("who asked for the token came before its prompt, not before one that a client had given up", () => {
  const s = new TestSpans();
  const prompt = (start: number, end: number) => {
    const slice = s.decode("prefill", start, end, 512);
    return { ...slice, args: { ...slice.args, position: 511 } };
  };
  const result = run(byEnd([s.exec(0), s.accept(5), prompt(10, 30), s.accept(95), prompt(100, 120), s.sample(120.5, 121)]));
  assert.deepEqual(result.milestones.map(({ name, atNs }) => `${name} ${atNs / MS}`), [
    "first llama_decode 10",
    "connection accepted 95",
    "first token 121",
  ]);
  const waited = presentColdstart(result).flatMap((view) => view.type === "facts" ? view.facts : []).find(({ name }) =>
    name === "  token after that"
  );
  assert.equal(waited!.value, 26 * MS);
});

Deno.test("where there is another context, which guesses or does nothing, a start ends and generation begins with the same token", () => {
  const s = new TestSpans();
  const made = [1, 2].map((context) => s.slice("llama.context", 1, 2, { ok: true, context }));
  const of = (context: number, slice: Slice, guessed = 0) => ({ ...slice, args: { ...slice.args, context, ...guessed > 0 && { guessed } } });
  const told = (...spans: readonly Span[]) => {
    const { milestones, phases, totalNs } = run([s.exec(0), ...spans]);
    return [
      totalNs / MS,
      milestones.at(-1)!.name,
      ...phases.filter(({ kind }) => kind === "decode").map(({ name, startNs }) => `${name} ${startNs / MS}`),
    ];
  };
  const answer = [of(1, s.decode("prefill", 10, 20, 15)), s.sample(21, 22)];
  const goesOn = [of(1, s.decode("decode", 23, 24)), s.sample(24, 25), of(1, s.decode("decode", 26, 27))];
  const one = [22, "first token", "prefill 10", "generation 23"];
  assert.deepEqual(told(made[0]!, ...answer, ...goesOn), one);
  assert.deepEqual(told(...made, ...answer, ...goesOn), one);
  const draft = [of(2, s.decode("prefill", 10, 12, 15)), s.sample(12, 13), of(2, s.decode("decode", 13, 14)), s.sample(14, 15)];
  const tried = [of(1, s.decode("decode", 15, 20, 3), 2), s.sample(20, 21), of(1, s.decode("decode", 23, 24, 3), 2), s.sample(24, 25)];
  const prompt = of(1, s.decode("prefill", 5, 10, 14));
  assert.deepEqual(told(...made, prompt, ...draft, ...tried), [
    21,
    "first token",
    "prefill 5",
    "llama_decode 13",
    "generation 23",
  ]);
});

Deno.test("a worker that was forked before anything was seen belongs to the tree of the root that is told", () => {
  const worker = new TestSpans().of(7);
  const spans = [worker.read("m.gguf", 10, 30), worker.decode("prefill", 31, 33), worker.decode("decode", 34, 35)];
  const reads = (options: ColdstartOptions) => run(spans, options).steps.filter(({ name }) => name === "read m.gguf").length;
  assert.deepEqual([reads({ rootPid: 100 }), reads({ rootPid: 100, tree: [[7]] })], [0, 1]);
});

Deno.test("a root that is told, running already: counts from the first event, exec chains keep the first time and the last name", () => {
  const s = new TestSpans();
  const running = run([s.of(7).exec(1), s.read("m.gguf", 10, 30), s.decode("decode", 31, 33), s.decode("decode", 34, 35)], { rootPid: 100 });
  assert.deepEqual(running.root, { pid: 100, file: null, execNs: 10 * MS, execSeen: false });
  assert.match(notes(running), /was running before[\s\S]*prompt was evaluated before/);
  const chain = run([s.exec(1, "sh"), s.exec(5, "python3"), s.read("m.gguf", -10, 0), s.read("m.gguf", 0, 9), s.exit(11)]);
  assert.deepEqual([chain.root!.file, chain.root!.execNs, chain.end, chain.timeToFirstTokenNs], ["python3", 1 * MS, "last event", null]);
  assert.deepEqual(steps(chain), ["read m.gguf 8", "unexplained 2"]);
  assert.match(notes(chain), /No first token/);
});

Deno.test("nothing, or no start", () => {
  const s = new TestSpans();
  for (const spans of [[], [s.read("a", 0, 1), s.mark("lost", 3)], [s.counter("page faults", 1, 1)]] as Span[][]) {
    const result = run(spans);
    assert.deepEqual([result.root, result.totalNs, result.steps, coldstartLane(result, s.tracks)], [null, 0, [], []]);
    assert.match(notes(result), /No process was seen to start/);
  }
  const alone = run([s.exec(5)]);
  assert.deepEqual([alone.totalNs, alone.steps], [0, []]);
  assert.deepEqual(steps(run([s.exec(5), s.exit(6)])), ["unexplained 1"]);
  assert.deepEqual(steps(run([s.exec(5), s.exit(6)], { rootPid: 100 })), ["unexplained 1"]);
  assert.equal(run([], { rootPid: 100 }).root, null);
});

Deno.test("refused locks are counted, named, and answered with advice", () => {
  const s = new TestSpans();
  const lock = (at: number, errno: number) => s.slice("memory.lock", at, at + 1, { bytes: MIB, errno });
  const result = run([
    s.exec(0),
    lock(1, 12),
    lock(2, 12),
    lock(3, 1),
    lock(4, 11),
    lock(5, 99),
    lock(6, -0),
    s.slice("socket.listen", 8, 9, { errno: 98 }),
  ]);
  assert.deepEqual(result.locks, {
    lockedBytes: MIB,
    failures: [
      { errno: "ENOMEM", count: 2, bytes: 2 * MIB },
      { errno: "EPERM", count: 1, bytes: MIB },
      { errno: "EAGAIN", count: 1, bytes: MIB },
      { errno: "errno 99", count: 1, bytes: MIB },
    ],
  });
  assert.match(notes(result), /2 times with ENOMEM \(2\.0 MiB\).*ulimit -l[\s\S]*EPERM.*setcap[\s\S]*EAGAIN.*free -m[\s\S]*errno 99/);
});

Deno.test("memory: sparse faults explain nothing, dense ones, those that wait for the disk, and populated mappings do", () => {
  const s = new TestSpans();
  const result = run(byEnd([
    s.exec(0),
    s.touch(undefined, 0, 20, 30),
    s.touch(undefined, 30, 40, 10_000),
    s.slice("memory.map", 45, 45.01, { bytes: MIB, address: 4096 }),
    s.slice("memory.map", 50, 60, { bytes: 64 * MIB, address: 4096 }),
    s.touch("libcuda.so.1", 60, 70, 99, { majorNs: 6 * MS }),
    s.slice("llama.load", 65, 90, undefined, true),
    s.touch("libcuda.so.1", 80, 82, 20),
    s.touch("server", 83, 85, 20, { code: true }),
    s.touch("libcublas.so.13", 86, 88, 200),
    s.exit(90),
  ]));
  assert.deepEqual(steps(result), [
    "unexplained 30",
    "fault in memory 10",
    "unexplained 10",
    "populate memory 10",
    "fault in libcuda.so.1 10",
    "model load (compute, allocation) 16",
    "fault in libcublas.so.13 2",
    "model load (compute, allocation) 2",
  ]);
  assert.equal(result.phases.find((phase) => phase.kind === "load")!.open, true);
  assert.deepEqual(result.milestones.map(({ name }) => name), ["model load begins"]);
});

Deno.test("a model that was loaded on trial is not the one that answers, nor is one that is loaded later", () => {
  const s = new TestSpans();
  const load = (at: number, ms: number) => [s.slice("llama.load", at, at + ms), s.slice("llama.context", at + ms, at + ms + 5)];
  const result = run(byEnd([s.exec(0, "engine"), ...load(10, 2), ...load(20, 70), s.decode("prefill", 100, 130, 32), ...load(140, 20), s.exit(200)]));
  assert.deepEqual(result.milestones.slice(0, 4).map(({ name, atNs }) => [name, atNs / MS]), [
    ["model load begins", 10],
    ["model loaded", 90],
    ["context ready", 95],
    ["first llama_decode", 100],
  ]);
});

Deno.test("of a server with a process for each model the milestones are those of the one that answers", () => {
  const s = new TestSpans(), other = s.of(200), answers = s.of(300);
  const loads = (who: TestSpans, at: number, ms: number) => [who.slice("llama.load", at, at + ms), who.slice("llama.context", at + ms, at + ms + 5)];
  const started = (...spans: readonly Span[]) =>
    run(byEnd([s.exec(0), s.fork(1, 200), s.fork(2, 300), s.slice("socket.listen", 3, 4, { fd: 3, errno: 0 }), ...spans, s.exit(400)]))
      .milestones.map(({ name, atNs }) => `${name} ${atNs / MS}`);
  const asked = [answers.slice("socket.listen", 55, 56, { fd: 5, errno: 0 }), answers.decode("prefill", 200, 230, 32), answers.sample(231, 232)];
  const seen = ["listening 3", "model load begins 20", "model loaded 50", "context ready 55", "first llama_decode 200", "first token 232"];
  // The other one loads longer, is asked before, and answers later.
  const busy = [...loads(other, 10, 100), other.decode("prefill", 150, 300, 512), other.sample(301, 302)];
  assert.deepEqual(started(...loads(answers, 20, 30), ...asked, ...busy), seen);
  // Whoever forks behind the load has all of it.
  assert.deepEqual(started(...loads(s, 20, 30), ...asked), seen);
});

Deno.test("of a file that is mapped the bytes are those of its mapping, once however often it is, and no rate follows from them", () => {
  const s = new TestSpans(), other = s.of(100, 101);
  const result = run(byEnd([
    s.exec(0),
    s.map("m.gguf", 0, 1, 61 * MIB),
    s.touch("m.gguf", 1, 20, 5000),
    s.map("m.gguf", 20, 21, 61 * MIB),
    other.map("m.gguf", 21, 22, 40 * MIB),
    other.touch("m.gguf", 22, 40, 3000),
    s.map("b.gguf", 50, 52, 7 * MIB),
    s.slice("library.load", 60, 70, { file: "libggml.so", bytes: 5 * MIB }),
    other.slice("library.load", 65, 72, { file: "libggml.so", bytes: 5 * MIB }),
    // A library's file that is read, as who looks whether it is whole does.
    ...[80, 83].map((at) => s.read("libcuda.so.1", at, at + 2, 2 * MIB)),
    ...[90, 91].map((at) => s.slice("memory.lock", at, at + 1, { bytes: MIB, errno: 0 })),
    s.slice("memory.map", 92, 96, { bytes: 64 * MIB, address: 4096 }),
    s.exit(96),
  ]));
  assert.deepEqual(result.steps.filter(({ kind }) => kind !== "unexplained").map(({ name, note }) => [name, note]), [
    ["fault in m.gguf", "61.0 MiB mapped, 8000 faults"],
    ["map b.gguf", "7.0 MiB mapped"],
    ["load libggml.so", "5.0 MiB mapped"],
    ["read libcuda.so.1", "4.0 MiB at 839 MB/s, 2 reads and opens"],
    ["mlock", "2.0 MiB at 1049 MB/s, 2 mlock calls"],
    ["populate memory", "64.0 MiB"],
  ]);
});

Deno.test("where nothing enters the page cache nobody says that files were in it", () => {
  const s = new TestSpans();
  const result = run([s.exec(0), s.read("m.gguf", 1, 50, 40 * MIB), s.exit(60)]);
  const [memory] = presentColdstart(result).filter((view) => view.type === "facts" && view.title === "Memory");
  assert.deepEqual(memory?.type === "facts" && memory.facts[0], {
    name: "read into the page cache",
    value: null,
    unit: "bytes",
    note: "over the whole trace, without what was in it and what is read past it (O_DIRECT)",
  });
});

Deno.test("whose code ran while nothing explains the time", () => {
  const s = new TestSpans();
  const samples = (from: number, count: number, code: string, who = s) => Array.from({ length: count }, (_, i) => who.running(from + i, code));
  const result = run(byEnd([
    s.exec(0),
    ...samples(1, 5, "python3.12"),
    ...samples(6, 2, "libc.so.6"),
    ...samples(7.5, 3, "of another process", s.of(999)),
    s.slice("library.load", 10, 20, { file: "libtorch.so", bytes: MIB }),
    ...samples(11, 8, "while a library is loaded"),
    ...samples(21, 2, "the kernel"),
    s.decode("prefill", 30, 40, 8),
    s.sample(41, 42),
    ...samples(43, 5, "after the first token"),
    s.exit(50),
  ]));
  assert.deepEqual(result.whileUnexplained!.codes.map(({ code, samples }) => [code, samples]), [["python3.12", 5], ["libc.so.6", 2], [
    "the kernel",
    2,
  ]]);
  assert.deepEqual([result.whileUnexplained!.samples, result.whileUnexplained!.perSecond], [9, 99]);
  const [first, , second] = result.steps;
  assert.deepEqual([first!.note, first!.codes], ["mostly in python3.12", [{ code: "python3.12", samples: 5 }, { code: "libc.so.6", samples: 2 }]]);
  assert.deepEqual([second!.note, second!.codes], [undefined, [{ code: "the kernel", samples: 2 }]]);
  assert.equal(run([s.exec(0), s.exit(9)]).whileUnexplained, null);
  const longest = (ms: number) => run(byEnd([s.exec(0), ...samples(1, 5, "a"), s.exit(ms)])).steps.map(({ note }) => note);
  assert.deepEqual([longest(1000), longest(240), run([s.exec(0), s.exit(1000)]).steps[0]!.note], [
    ["it waits: nothing ran for 94 % of that"],
    ["mostly in a"],
    undefined,
  ]);
  const waits = (ms: number) =>
    /most of the unexplained time nothing of it ran/.test(notes(run(byEnd([s.exec(0), ...samples(1, 5, "a"), s.exit(ms)]))));
  assert.deepEqual([waits(90), waits(110)], [false, true]);
});

Deno.test("long calls of a GPU's library explain what nothing else does", () => {
  const s = new TestSpans();
  const call = (name: string, kind: string, start: number, end: number, family = "cudart"): Span => {
    const gpu = { family, kind, result: 0, failure: null };
    return { ...s.slice(`gpu.${family}`, start, end), name, gpu };
  };
  const result = run(byEnd([
    s.exec(0, "python3"),
    call("cudaGetDeviceCount", "query", 10, 40),
    call("cuInit", "init", 11, 39, "cuda"),
    call("cudaFuncGetAttributes", "query", 50, 70),
    call("cuLibraryLoadData", "module", 51, 60, "cuda"),
    s.open("m.gguf", 80, 81),
    s.read("m.gguf", 81, 90, MIB),
    call("cudaMemcpy", "copy", 85, 95),
    call("cudaLaunchKernel", "launch", 96, 96.01),
    call("ncclCommInitRank", "context", 97, 99, "nccl"),
    s.exit(99),
  ]));
  assert.deepEqual(steps(result), [
    "unexplained 10",
    "start the GPU 30",
    "unexplained 10",
    "start the GPU 1",
    "load code for the GPU 9",
    "start the GPU 10",
    "unexplained 10",
    "read m.gguf 10",
    "copy to or from the GPU 5",
    "unexplained 2",
    "start NCCL 2",
  ]);
  assert.equal(result.kinds.find(({ kind }) => kind === "gpu")!.totalNs, 57 * MS);
});

Deno.test("hostile order: steps sum to the total, whatever comes when", () => {
  const random = seeded(9);
  for (let round = 0; round < 150; round++) {
    const s = new TestSpans();
    const spans: Span[] = random(4) ? [s.exec(random(20)), s.fork(random(20), 101)] : [];
    for (let i = 0; i < 80; i++) {
      const who = s.of(100 + random(3), 100 + random(4));
      const start = random(2000) / 10, end = start + random(300) / 10;
      const file = ["a", "b", "c.gguf", "libd.so"][random(4)]!;
      const open = random(20) === 0;
      spans.push(
        [
          () => who.read(file, start, end),
          () => who.open(file, start, end),
          () => who.map(file, start, end),
          () => who.touch(random(3) ? file : undefined, start, end, random(9000)),
          () => who.stop(start, end),
          () => who.slice("library.load", start, end, { file, bytes: 10 }, open),
          () => who.slice("llama.load", start, end, undefined, open),
          () => who.slice("llama.context", start, end, undefined, open),
          () => who.slice("memory.lock", start, end, { bytes: 10, errno: random(2) }),
          () => who.decode(random(2) ? "prefill" : "decode", start, end, 1, open),
          () => who.sample(start, end),
          () => who.exec(start),
        ][random(round % 2 ? 12 : 9)]!(),
      );
    }
    run(round % 3 ? spans : byEnd(spans), round % 5 ? undefined : { rootPid: 100 });
  }
});

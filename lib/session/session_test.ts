import assert from "node:assert/strict";
import { tell } from "../../tests/harness/decoding.ts";
import { makeElf } from "../../tests/harness/elf.ts";
import { type FakeBpftrace, FakeTime, spawnBpftraces } from "../../tests/harness/fake_bpftrace.ts";
import { type FakeChild, fakeSpawn, noRoom } from "../../tests/harness/fake_child.ts";
import { capable, FakeProc, FakeSymbols } from "../../tests/harness/fake_machine.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { access } from "../../probes/files/access.ts";
import { mappingGate } from "../../probes/gate/mapping.ts";
import { calls } from "../../probes/llama/calls.ts";
import { life } from "../../probes/process/life.ts";
import type { Fact } from "../events/fact.ts";
import { Kind } from "../programs/schema.ts";
import type { Child } from "../machine/child.ts";
import type { Header } from "../timeline/header.ts";
import type { Means } from "./means.ts";
import { Session, type SessionOptions } from "./session.ts";
import type { RunningTarget, Target } from "./target.ts";

const hex = (text: string) => new TextEncoder().encode(text).toHex().replace(/..(?=.)/g, "$& ");
const tracepoints = [life, access, mappingGate({ prefixes: [] })].flatMap((probe) => probe.tracepoints ?? []);
const probes = [life, access, calls];
const libllama = makeElf({ llama_decode: "55" });

/** Kinds of records in the one program of a running target, behind those of processes and files. */
const kinds = probes.flatMap(({ name, records }) => Object.keys(records).map((record) => `${name}.${record}`));
const [DECODE, DECODE_RETURN] = ["llama/calls.decode", "llama/calls.decode_return"].map((name) => Kind.first + kinds.indexOf(name)) as [
  number,
  number,
];

/** A session with probes of processes, files and llama.cpp over a fake machine. Programs are known by their stream's name. */
function session(root: string, target: Target, more: Partial<SessionOptions> = {}, kernel = "6.18.44") {
  const proc = new FakeProc(root);
  const time = new FakeTime();
  const symbols = new FakeSymbols();
  const spans: string[] = [];
  const facts: Fact[] = [];
  const states: string[] = [];
  const heard: string[] = [];
  const programs = new Map<string, FakeBpftrace>();
  const bpftraces: FakeChild[] = [];
  const waiting = new Map<string, (bpftrace: FakeBpftrace) => void>();
  let header: Header | undefined;
  const spawn = spawnBpftraces(time, (bpftrace, text) => {
    const hasLibrary = text.includes("uprobe:"), hasKernel = text.includes("sched_process_exec");
    const name = text.includes("signal(") ? "gate" : hasLibrary && hasKernel ? "target" : hasLibrary ? "llama" : "process";
    programs.set(name, bpftrace);
    waiting.get(name)?.(bpftrace);
  }, bpftraces);
  const sleep = (ms: number) => new Promise<void>((resolve) => ms === 3000 || ms === 30_000 ? undefined : setTimeout(resolve, 1));
  const means = {
    files: proc.files,
    machine: { ...capable(undefined, tracepoints), kernel },
    symbols,
    spawn,
    sleep,
    monotonic: time.monotonic,
    origin: () => 1000,
    self: 50,
  };
  const guarded: string[] = [];
  const guard = {
    pid: 1,
    stopped: (pid: number) => Promise.resolve(void guarded.push(`+${pid}`)),
    mayStop: () => Promise.resolve(),
    released: (pid: number) => Promise.resolve(void guarded.push(`-${pid}`)),
    letGo: (pid: number) => Promise.resolve(void guarded.push(`=${pid}`)),
    armed: () => Promise.resolve(void guarded.push("armed")),
    unheard: () => void guarded.push("unheard"),
    close: () => Promise.resolve(),
  };
  const run = new Session(means as Means, {
    target,
    tree: true,
    probes,
    bufferPages: 64,
    guard,
    patient: false,
    find: (name) => [...probes, mappingGate({ prefixes: [] })].find((probe) => probe.name === name),
    header: { schemaVersion: 1, llmprof: "0.1.0", command: "coldstart", options: {}, host: {}, bpftrace: null },
    open: (opened) => {
      header = opened;
      return { out: (span) => void spans.push(tell(span)), flush() {}, recording: null };
    },
    onFact: (fact) => void facts.push(fact),
    progress: ({ state }) => void states.push(state),
    heard: ({ record }) => void heard.push(record),
    ...more,
  });
  const program = (name: string) =>
    programs.has(name) ? Promise.resolve(programs.get(name)!) : new Promise<FakeBpftrace>((resolve) => waiting.set(name, resolve));
  proc.process(50, 1, "llmprof", "S", 1000);
  return { run, proc, time, symbols, spans, facts, states, heard, bpftraces, guarded, program, waiting, header: () => header };
}

function launchedChild(): { child: Child; fake: FakeChild } {
  let fake!: FakeChild;
  const child = fakeSpawn((c) => void (fake = c), 100)({ program: "/bin/sh" });
  return { child, fake };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** When windows opened or were shut, in nanoseconds, in order. */
function windowTimes(spans: readonly string[]): number[] {
  return spans.flatMap((span) => /^mark window (\d+) /.exec(span)?.[1] ?? []).map(Number);
}

/** What a test is about: no marks, and no times. */
function events(spans: readonly string[]): string[] {
  return spans.filter((span) => !span.startsWith("mark")).map((span) => span.replace(/ \d+–\d+| from \d+$/, "").replace(/" \d+(?= |$)/, '"'));
}

Deno.test("session: a program that we start stands at the gate until its library's probes are attached, and everything is counted", async () => {
  using root = temporary();
  const { child, fake } = launchedChild();
  const s = session(root.path, { type: "launched", pid: 100, argv: ["node", "engine.mjs"], child, program: "/usr/bin/node" });
  s.proc.standing(100, 50);
  fake.onSignal = (signal) => signal === "SIGCONT" && s.proc.process(100, 50, "node", "S");
  const done = s.run.run(new Promise(() => {}));
  await s.run.counting;
  await until(() => fake.signals.includes("SIGCONT"));
  const process = await s.program("process"), gate = await s.program("gate");
  process.event(10, 100, hex("node"));
  s.proc.map(100, "/opt/libllama.so", 5, libllama);
  s.proc.process(100, 50, "node", "T");
  gate.event(10, 100, `8 5 ${hex("libllama.so")}`);
  const llama = await s.program("llama");
  await until(() => llama.child.signals.includes("SIGWINCH"));
  gate.event(11, 50, "100 50");
  llama.event(14, 100, "7 1 1 1 1 -1 0");
  llama.event(15, 100, "0");
  fake.ends(0);
  await done;
  await s.run.ended();
  assert.deepEqual(events(s.spans), [
    '100 is called "node"',
    '100/100 process.exec "node" file=node',
    '100 <stopped by llmprof> llmprof.stopped "libllama.so mapped"',
    '100/100 llama.decode "llama_decode" tokens=1 phase=decode context=7 ret=0',
  ]);
  assert.deepEqual(s.states.filter((state, i) => state !== s.states[i - 1]), ["attaching", "counting", "gate", "left", "draining"]);
  // endbr64 is not there: the function's own beginning, by a name that bpftrace is told.
  const file = "/proc/100/map_files/7f000005000-7f000005fff";
  const named = s.symbols.added.map(({ file, name, address }) => `${file} ${name} ${address}`);
  assert.ok(named.includes(`${file} llmprof_llama_decode_0 ${0x1000}`), named.join());
  assert.ok((await llama.program).includes(`uretprobe:"${file}":"llmprof_llama_decode_0"`));
  assert.deepEqual(s.guarded, ["armed", "-100", "+100", "-100"]);
  assert.ok(!s.facts.some((fact) => fact.fact === "note" && fact.text.includes("somebody")), "nobody continued it too early");
  assert.deepEqual(s.header()!.target, { pid: 100, argv: ["node", "engine.mjs"], started: true });
  const kinds = s.facts.map(({ fact }) => fact);
  assert.equal(kinds.filter((kind) => kind === "program").length, 3);
  assert.ok(kinds.includes("exit") && kinds.includes("skipped") && kinds.at(-1) === "cpu");
  for (const [stream, tally] of s.run.timeline!.tallies) assert.equal(tally.emitted, tally.received, stream);
  assert.equal(s.spans.filter((span) => span.startsWith("mark window")).length, 6);
});

Deno.test("session: whoever comes to the gate as counting ends goes on before the run is over, and before the gate is taken away", async () => {
  using root = temporary();
  const { child, fake } = launchedChild();
  const stop = Promise.withResolvers<void>();
  const s = session(root.path, { type: "launched", pid: 100, argv: ["node"], child, program: "/usr/bin/node" });
  s.proc.standing(100, 50);
  const done = s.run.run(stop.promise);
  await until(() => fake.signals.includes("SIGCONT"));
  const gate = await s.program("gate"), { onSignal } = gate.child;
  let atLast: string | undefined;
  gate.child.onSignal = (signal) => {
    if (signal === "SIGINT") atLast = s.guarded.at(-1);
    if (signal === "SIGURG") {
      // It reads its library from a disk, and stands when that has come.
      s.proc.process(200, 100, "node", "D");
      gate.event(10, 200, `8 5 ${hex("libllama.so")}`);
      setTimeout(() => s.proc.process(200, 100, "node", "T"), 50);
    }
    onSignal?.(signal);
  };
  stop.resolve();
  await done;
  assert.deepEqual([s.guarded.slice(-2), atLast], [["+200", "-200"], "-200"]);
  fake.ends(0);
  await s.run.ended();
});

Deno.test("session: what cannot be attached at the gate ends the run at once, and the program goes on", async () => {
  using root = temporary();
  const { child, fake } = launchedChild();
  const s = session(root.path, { type: "launched", pid: 100, argv: ["node", "engine.mjs"], child, program: "/usr/bin/node" });
  s.waiting.set("llama", (bpftrace) => bpftrace.ready = () => bpftrace.child.ends(1));
  s.proc.standing(100, 50);
  fake.onSignal = (signal) => signal === "SIGCONT" && s.proc.process(100, 50, "node", "S");
  const done = s.run.run(new Promise(() => {}));
  const failed = assert.rejects(done, { exitCode: 1, what: "bpftrace could not attach the program 'llama'." });
  await s.run.counting;
  await until(() => fake.signals.includes("SIGCONT"));
  s.proc.map(100, "/opt/libllama.so", 5, libllama);
  s.proc.process(100, 50, "node", "T");
  (await s.program("gate")).event(10, 100, `8 5 ${hex("libllama.so")}`);
  await failed;
  await s.run.ended();
  assert.deepEqual(s.guarded, ["armed", "-100", "+100", "-100"]);
  assert.deepEqual(fake.signals, ["SIGCONT"], "it is not ended with the run");
});

Deno.test("session: of a program that somebody let go before its probes were attached it is told", async () => {
  using root = temporary();
  const { child, fake } = launchedChild();
  const s = session(root.path, { type: "launched", pid: 100, argv: ["node"], child, program: "/usr/bin/node" });
  s.proc.process(100, 50, "node", "T");
  const done = s.run.run(new Promise(() => {}));
  await until(() => s.guarded.includes("-100"));
  fake.ends(0);
  await done;
  await s.run.ended();
  assert.deepEqual(fake.signals, [], "where it stands now is a gate");
  const text = "process 100 was continued by somebody before probes were attached: what it did first may be missing";
  assert.deepEqual(s.facts.filter(({ fact }) => fact === "note"), [{ fact: "note", text }]);
});

Deno.test("session: a running process without the library is refused with a reason, and no bpftrace stays", async () => {
  using root = temporary();
  const s = session(root.path, { type: "running", pid: 100, pids: [100], argv: ["node"] });
  s.proc.process(100, 1, "node");
  await assert.rejects(s.run.run(new Promise(() => {})), { exitCode: 1, what: "Process 100 has no libllama*.so mapped." });
  assert.equal(s.run.timeline, undefined);
  assert.deepEqual(s.bpftraces.map(({ signals }) => signals), [["SIGKILL"]]);
});

Deno.test("session: a running process is traced until it is gone", async () => {
  using root = temporary();
  const s = session(root.path, { type: "running", pid: 100, pids: [100], argv: ["node"] });
  s.proc.process(100, 1, "node");
  s.proc.map(100, "/opt/libllama.so", 5, libllama);
  const done = s.run.run(new Promise(() => {}));
  await s.run.counting;
  const program = await s.program("target");
  program.event(DECODE, 100, "7 1 1 1 1 -1 0");
  await until(() => s.heard.length === 1);
  s.proc.gone(100);
  await done;
  await s.run.ended();
  assert.deepEqual(events(s.spans), ['100/100 llama.decode "llama_decode" (open) tokens=1 phase=decode context=7']);
});

Deno.test("session: hits that the kernel had skipped before anything counted are not the run's", async () => {
  using root = temporary();
  const s = session(root.path, { type: "running", pid: 100, pids: [100], argv: ["node"] });
  s.proc.process(100, 1, "node");
  s.proc.map(100, "/opt/libllama.so", 5, libllama);
  const skips = (count: number, pid: number) => {
    Deno.mkdirSync(root.file(`proc/${pid}/fdinfo`), { recursive: true });
    Deno.writeTextFileSync(root.file(`proc/${pid}/fdinfo/3`), `recursion_misses:\t${count}\n`);
  };
  const done = s.run.run(new Promise(() => {}));
  const { child: { pid } } = await s.program("target");
  skips(40, pid);
  const { files } = s.proc, whole = Object.getPrototypeOf(files) as typeof files;
  let reads = 0;
  files.texts = async (paths) => {
    const texts = await whole.texts.call(files, paths);
    if (paths.some((path) => path.includes("/fdinfo/"))) reads++;
    return texts;
  };
  await s.run.counting;
  await until(() => reads > 0);
  skips(42, pid);
  s.proc.gone(100);
  await done;
  await s.run.ended();
  assert.deepEqual(s.facts.filter(({ fact }) => fact === "skipped"), [{ fact: "skipped", stream: "target", count: 2 }]);
});

Deno.test("session: looks for which no process can be started are left out: the run ends with its target, and what is not known is said", async () => {
  using root = temporary();
  const s = session(root.path, { type: "running", pid: 100, pids: [100], argv: ["node"] });
  s.proc.process(100, 1, "node");
  s.proc.map(100, "/opt/libllama.so", 5, libllama);
  const { files } = s.proc, whole = Object.getPrototypeOf(files) as typeof files;
  files.list = (dir) => dir.endsWith("/fdinfo") ? noRoom() : whole.list.call(files, dir);
  const done = s.run.run(new Promise(() => {}));
  await s.run.counting;
  // By then it has looked for what was mapped meanwhile, without which a run would end.
  await new Promise((resolve) => setTimeout(resolve, 5));
  files.list = whole.list;
  let looks = 0;
  files.text = (path) => path === "/proc/100/stat" && looks++ < 2 ? noRoom() : whole.text.call(files, path);
  await until(() => looks > 2);
  s.proc.gone(100);
  await done;
  await s.run.ended();
  assert.ok(!s.facts.some(({ fact }) => fact === "skipped"), "0 would be a lie");
  const text = "target: hits that the kernel skipped could not be counted";
  assert.deepEqual(s.facts.filter(({ fact }) => fact === "note"), [{ fact: "note", text }]);
});

Deno.test("session: where the kernel does not count what it skips, that is said", async () => {
  for (const [kernel, notes] of [["6.7.0", 0], ["6.6.13+bpo-amd64", 1], ["6.1.0-18-amd64", 1]] as const) {
    using root = temporary();
    const s = session(root.path, { type: "running", pid: 100, pids: [100], argv: ["node"] }, {}, kernel);
    s.proc.process(100, 1, "node");
    s.proc.map(100, "/opt/libllama.so", 5, libllama);
    const done = s.run.run(s.run.counting);
    await done;
    await s.run.ended();
    const text = `hits that the kernel skips are not counted by this kernel (${kernel})`;
    assert.equal(s.facts.filter((fact) => fact.fact === "note" && fact.text === text).length, notes, kernel);
  }
});

Deno.test("session: a process that execs in the target belongs to it, whoever its parent is, until it ends", async () => {
  using root = temporary();
  const stop = Promise.withResolvers<void>();
  const s = session(root.path, { type: "running", pid: 100, pids: [100], argv: ["node"] });
  s.proc.process(100, 1, "node");
  s.proc.process(300, 1, "other");
  s.proc.map(100, "/opt/libllama.so", 5, libllama);
  const done = s.run.run(stop.promise);
  await s.run.counting;
  const program = await s.program("target");
  const members: (readonly number[])[] = [];
  const look = async (heard: number) => {
    await until(() => s.heard.length === heard);
    members.push(await s.run.members());
  };
  await look(0);
  program.event(10, 300, hex("server"));
  await look(1);
  program.event(12, 300, `0 5 0 ${hex("server")}`);
  await look(2);
  stop.resolve();
  await done;
  await s.run.ended();
  assert.deepEqual(members, [[100], [100, 300], [100]]);
});

Deno.test("session: what a running process maps while it is attached to is attached then", async () => {
  using root = temporary();
  const stop = Promise.withResolvers<void>();
  const progress = ({ state }: { state: string }) => {
    if (state === "counting") s.proc.map(100, "/opt/libllama.so.2", 6, libllama);
  };
  const s = session(root.path, { type: "running", pid: 100, pids: [100], argv: ["node"] }, { progress });
  s.proc.process(100, 1, "node");
  s.proc.map(100, "/opt/libllama.so", 5, libllama);
  const done = s.run.run(stop.promise);
  const first = await s.program("target"), later = await s.program("llama");
  assert.ok((await first.program).includes("map_files/7f000005000-7f000005fff") && !(await first.program).includes("7f000006000"));
  assert.ok((await later.program).includes("map_files/7f000006000-7f000006fff") && !(await later.program).includes("7f000005000"));
  stop.resolve();
  await done;
  await s.run.ended();
  assert.deepEqual([...s.run.timeline!.tallies.keys()].sort(), ["host", "llama", "target"]);
});

Deno.test("session: a target that comes again is traced again, each life with programs of its own, what the first left open closed", async () => {
  using root = temporary();
  const stop = Promise.withResolvers<void>();
  const lives: (RunningTarget | null)[] = [{ type: "running", pid: 200, pids: [200], argv: ["node"] }];
  const again = () => {
    const next = lives.shift();
    return next === undefined ? new Promise<null>(() => {}) : Promise.resolve(next);
  };
  const s = session(root.path, { type: "running", pid: 100, pids: [100], argv: ["node"] }, { again });
  s.proc.process(100, 1, "node");
  s.proc.map(100, "/opt/libllama.so", 5, libllama);
  const done = s.run.run(stop.promise);
  await s.run.counting;
  const first = await s.program("llama");
  first.event(14, 100, "7 1 1 1 1 -1 0");
  await until(() => s.heard.length === 1);
  s.proc.process(200, 1, "node");
  s.proc.map(200, "/opt/libllama.so", 5, libllama);
  s.proc.gone(100);
  await until(() => s.states.filter((state) => state === "counting").length === 2);
  const second = await s.program("llama");
  assert.notEqual(second, first);
  assert.ok(first.child.signals.includes("SIGINT"));
  second.event(14, 200, "7 1 1 1 1 -1 0");
  second.event(15, 200, "0");
  s.proc.gone(200);
  await until(() => s.states.filter((state) => state === "again").length === 2);
  stop.resolve();
  await done;
  await s.run.ended();
  assert.deepEqual(events(s.spans), [
    '100/100 llama.decode "llama_decode" (open) tokens=1 phase=decode context=7',
    '200/200 llama.decode "llama_decode" tokens=1 phase=decode context=7 ret=0',
  ]);
  assert.ok(s.spans.some((span) => /^mark note .*process 100 ended and process 200 came after it/.test(span)));
  // What a life's programs have counted until the end of their windows belongs to it.
  const windows = Array<string>(4).fill("window");
  assert.deepEqual(s.spans.flatMap((span) => /^mark (window|ended) /.exec(span)?.[1] ?? []), [...windows, "ended", ...windows, "ended"]);
  // Nothing has looked at the clock in between, which goes on by a millisecond at each look.
  const apart = windowTimes(s.spans).map((at, i, all) => (at - all[i - 1]!) / 1e6);
  assert.deepEqual([apart[1], apart[3], apart[5], apart[7]], [1, 1, 1, 1], "windows of a life open together and shut together");
  assert.deepEqual([...s.run.timeline!.tallies.keys()].sort(), ["host", "llama", "llama-2", "process", "process-2"]);
  assert.equal(s.run.pid, 200);
});

Deno.test("session: a target that is watched in turns has programs of its own in each, and none in between, until it ends", async () => {
  using root = temporary();
  const target: RunningTarget = { type: "running", pid: 100, pids: [100], argv: ["node"] };
  const [turn, rest] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const ends = [turn.promise, new Promise<void>(() => {})];
  const next = () => ({ probes, over: () => ends.shift()!, rest: () => rest.promise });
  const s = session(root.path, target, { turns: { next, target: () => Promise.resolve(target) } });
  s.proc.process(100, 1, "node");
  s.proc.map(100, "/opt/libllama.so", 5, libllama);
  const done = s.run.run(new Promise(() => {}));
  await s.run.counting;
  const first = await s.program("target");
  first.event(DECODE, 100, "7 1 1 1 1 -1 0");
  await until(() => s.heard.length === 1);
  // As long as it is being detached the target is not left alone.
  const { onSignal } = first.child;
  const detaching = Promise.withResolvers<void>();
  first.child.onSignal = (signal) => signal === "SIGINT" ? detaching.resolve() : onSignal?.(signal);
  turn.resolve();
  await detaching.promise;
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.ok(!s.states.includes("resting"));
  onSignal?.("SIGINT");
  await until(() => s.states.at(-1) === "resting");
  rest.resolve();
  await until(() => s.states.filter((state) => state === "counting").length === 2);
  const second = await s.program("target");
  assert.notEqual(second, first);
  second.event(DECODE_RETURN, 100, "0");
  second.event(DECODE, 100, "7 1 1 1 1 -1 0");
  second.event(DECODE_RETURN, 100, "0");
  await until(() => s.heard.length === 4);
  s.proc.gone(100);
  await done;
  await s.run.ended();
  assert.deepEqual(events(s.spans), [
    '100/100 llama.decode "llama_decode" (open) tokens=1 phase=decode context=7',
    '100/100 llama.decode "llama_decode" tokens=1 phase=decode context=7 ret=0',
  ]);
  assert.ok(!s.states.includes("again"));
  assert.equal(s.spans.filter((span) => span.startsWith("mark ended")).length, 1);
  assert.deepEqual([...s.run.timeline!.tallies.keys()].sort(), ["host", "target", "target-2"]);
});

Deno.test("session: a target that ends while it is left alone is not waited for until the next turn", async () => {
  using root = temporary();
  const target: RunningTarget = { type: "running", pid: 100, pids: [100], argv: ["node"] };
  const next = () => ({ probes, over: () => Promise.resolve(), rest: () => new Promise<void>(() => {}) });
  const isGone = () => s.proc.files.text("/proc/100/stat").then((stat) => stat === null);
  const s = session(root.path, target, { turns: { next, target: async () => await isGone() ? null : target } });
  s.proc.process(100, 1, "node");
  s.proc.map(100, "/opt/libllama.so", 5, libllama);
  const done = s.run.run(new Promise(() => {}));
  await until(() => s.states.at(-1) === "resting");
  s.proc.gone(100);
  await done;
  assert.equal(s.states.filter((state) => state === "counting").length, 1);
});

Deno.test("session: a run that ends while a later turn is being attached leaves no bpftrace", async () => {
  using root = temporary();
  const target: RunningTarget = { type: "running", pid: 100, pids: [100], argv: ["node"] };
  const stop = Promise.withResolvers<void>();
  const next = () => ({ probes, over: () => Promise.resolve() });
  const s = session(root.path, target, { turns: { next, target: () => Promise.resolve(target) } });
  s.proc.process(100, 1, "node");
  s.proc.map(100, "/opt/libllama.so", 5, libllama);
  const done = s.run.run(stop.promise);
  await until(() => s.states.filter((state) => state === "attaching").length === 2);
  stop.resolve();
  await done;
  await s.run.ended();
  // What was looked up meanwhile would be started now.
  await new Promise((resolve) => setTimeout(resolve, 50));
  for (const { signals } of s.bpftraces) assert.ok(signals.includes("SIGINT") || signals.includes("SIGKILL"), signals.join());
});

/** One that waits for the next process, and what ends it. */
async function waiting(root: string) {
  const stop = Promise.withResolvers<void>();
  const s = session(root, { type: "next" });
  const done = s.run.run(stop.promise);
  await until(() => s.states.includes("waiting"));
  const end = async () => {
    stop.resolve();
    await done;
    await s.run.ended();
  };
  return { s, end };
}

Deno.test("session: waiting, the first process that opens weights is the target, with what it did before", async () => {
  using root = temporary();
  const { s, end } = await waiting(root.path);
  const process = await s.program("process");
  s.proc.process(100, 1, "node", "S", 2000);
  process.event(10, 100, hex("node"));
  process.event(10, 200, hex("other"));
  process.event(13, 100, `${s.time.now()} 3 8 7 5000 ${hex("small.gguf")}`);
  await s.run.counting;
  await end();
  assert.equal(s.header()!.root, 100);
  assert.deepEqual(s.header()!.target.argv, ["node", "--flag"]);
  assert.deepEqual(events(s.spans).slice(1), [
    '100/100 process.exec "node" file=node',
    '100/100 file.open "open small.gguf" file=small.gguf dev=8 inode=7 bytes=5000',
  ]);
});

Deno.test("session: waiting, whom the target forked longer ago than anything is kept belongs to it", async () => {
  using root = temporary();
  const { s, end } = await waiting(root.path);
  const process = await s.program("process");
  s.proc.process(100, 1, "supervisor", "S", 2000);
  s.proc.process(150, 100, "router", "S", 2000);
  s.proc.process(200, 150, "worker", "S", 2000);
  process.event(11, 100, "150 0");
  process.event(11, 150, "200 0");
  // When it has been passed over, what came before has been read.
  process.event(16, 300, `${s.time.now()} 4096 4096 5 0 8 5 ${hex("libllama.so")}`);
  process.event(12, 300, `0 5 0 ${hex("helper")}`);
  await until(() => s.states.includes("passed"));
  s.time.pass(121_000);
  process.says(`(9, ${s.time.now()})`);
  process.event(13, 200, `${s.time.now()} 3 8 7 5000 ${hex("m.gguf")}`);
  await s.run.counting;
  await end();
  assert.ok(s.facts.some((fact) => fact.fact === "discarded" && fact.count === 4), JSON.stringify(s.facts));
  assert.deepEqual(events(s.spans), ['200/200 file.open "open m.gguf" file=m.gguf dev=8 inode=7 bytes=5000']);
  assert.deepEqual([s.header()!.root, s.header()!.tree], [100, [[150], [200]]]);
});

Deno.test("session: waiting, a program with the library linked in is attached when it opens its weights", async () => {
  using root = temporary();
  const { s, end } = await waiting(root.path);
  const process = await s.program("process");
  s.proc.process(100, 1, "server", "S", 2000);
  s.proc.program(100, "/opt/server");
  s.proc.map(100, "/opt/server", 5, libllama);
  process.event(13, 100, `${s.time.now()} 3 8 7 5000 ${hex("small.gguf")}`);
  const llama = await s.program("llama");
  await until(() => llama.child.signals.includes("SIGWINCH"));
  await end();
  assert.deepEqual([...s.run.attachedStreams], ["llama"]);
});

Deno.test("session: waiting, whoever maps llama.cpp and ends without computing is passed over, and the next one is seen from its first call", async () => {
  using root = temporary();
  const { s, end } = await waiting(root.path);
  const process = await s.program("process"), gate = await s.program("gate");
  const maps = (pid: number, comm: string, state: string) => {
    s.proc.process(pid, 1, comm, state, 2000);
    s.proc.map(pid, "/opt/libllama.so", 5, libllama);
    process.event(10, pid, hex(comm));
    process.event(16, pid, `${s.time.now()} 4096 4096 5 0 8 5 ${hex("libllama.so")}`);
  };
  maps(100, "helper", "T");
  gate.event(10, 100, `8 5 ${hex("libllama.so")}`);
  const llama = await s.program("llama");
  await until(() => s.states.includes("gate"));
  assert.match(await llama.program, /@start = \(uint64\)\d+;/, "it sees who has started before it");
  s.proc.gone(100);
  process.event(12, 100, `0 5 0 ${hex("helper")}`);
  await until(() => s.states.includes("passed"));
  assert.equal(s.run.timeline, undefined);
  maps(200, "server", "S");
  llama.event(14, 200, "7 1 1 1 1 -1 0");
  await s.run.counting;
  await end();
  assert.equal(s.header()!.root, 200);
  assert.deepEqual(events(s.spans).filter((span) => !span.includes("library.load")), [
    '200 is called "server"',
    '200/200 process.exec "server" file=server',
    '200/200 llama.decode "llama_decode" (open) tokens=1 phase=decode context=7',
  ]);
  assert.deepEqual(s.guarded.filter((told) => told.endsWith("100")), ["+100", "-100"], "what was kept is not acted on again");
});

Deno.test("session: ended while it waits, who has mapped llama.cpp by then is the target", async () => {
  using root = temporary();
  const { s, end } = await waiting(root.path);
  const process = await s.program("process");
  s.proc.process(100, 1, "server", "S", 2000);
  process.event(16, 100, `${s.time.now()} 4096 4096 5 0 8 5 ${hex("libllama.so")}`);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(s.run.timeline, undefined);
  await end();
  assert.equal(s.header()!.root, 100);
});

Deno.test("session: ended while it waits, nothing was traced", async () => {
  using root = temporary();
  const { s, end } = await waiting(root.path);
  await end();
  assert.equal(s.run.timeline, undefined);
});

Deno.test("session: a bpftrace that dies ends the run with its last words; what was seen is there", async () => {
  using root = temporary();
  const s = session(root.path, { type: "running", pid: 100, pids: [100], argv: ["node"] });
  s.proc.process(100, 1, "node");
  s.proc.map(100, "/opt/libllama.so", 5, libllama);
  const done = s.run.run(new Promise(() => {}));
  await s.run.counting;
  const program = await s.program("target");
  program.event(10, 100, hex("node"));
  program.child.complains("out of luck\n");
  program.child.ends(1);
  await assert.rejects(done, { exitCode: 1, what: "bpftrace ended while it traced ('target').", why: "It said: out of luck" });
  await s.run.ended();
  assert.ok(events(s.spans).some((span) => span.includes("process.exec")));
});

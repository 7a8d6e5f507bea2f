/** PyTorch's operators are left by exceptions, too, in the target and in whoever has the same library. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { start } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { top } from "../harness/places.ts";
import { type Temporary, temporary } from "../harness/temporary.ts";
import { debianPython } from "../setup/torch.ts";
import { startLlmprof, torchSummaryOf, wholeSummaryOf } from "./live_run.ts";
import { bpftracesOf, row, until } from "./processes.ts";
import { assertRefused, placesThousands } from "./refused_torch.ts";

const needs = { torch: true, judge: true };

// Two may throw while a third stands.
const THROWS = 61, THROWERS = 3;
/** Shells serve each of them, one after another: on a busy machine for minutes. Who throws as often ends before who waits for it. */
const LIMIT = { timeoutMilliseconds: 600_000 }, SHORTER = { timeoutMilliseconds: 300_000 };
const LEARNING = { formats: [], flags: ["--learn", "1s"], ...LIMIT };
const TARGET_STOOD = /^exceptions left functions .* the target stood \d+ times? for a moment, and/;
const OTHERS_STOOD = /^exceptions left functions .* others .* stood \d+ times? for a moment$/;
const throwing = join(top, "tests", "workloads", "torch_throws.py");

sampledTest(
  1,
  "PyTorch: an exception gets through the operators that it leaves, of the target and of whoever has the same library",
  needs,
  async ({ path }) => {
    using folder = temporary();
    const stop = folder.file("stop");
    await using net = start([debianPython, throwing, String(THROWERS), "0", stop], LIMIT);
    await net.saw('"torch"');
    await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { pid: net.pid }, ...LEARNING });
    await llmprof.saw("Tracing process");
    // No child of the target's.
    await using stranger = start([debianPython, throwing, String(THROWERS), String(THROWS)], SHORTER);
    const { stdout: strangers } = await stranger.succeeded();
    Deno.writeTextFileSync(stop, "");
    const { stdout } = await net.succeeded().catch((error) => assert.fail(`${error.message}\n${llmprof.stderr()}`));
    const told = (text: string): { relu: number; caught: number } => JSON.parse(text.trimEnd().split("\n").at(-1)!);
    assert.deepEqual(told(strangers), { relu: THROWERS * THROWS, caught: THROWERS * THROWS });
    const { relu, caught } = told(stdout);
    assert.equal(relu, caught);
    const { notes } = wholeSummaryOf("operators", await llmprof.finished());
    for (const stood of [TARGET_STOOD, OTHERS_STOOD]) assert.equal(notes.filter((text) => stood.test(text)).length, 1, notes.join("\n"));
  },
);

const WATCHERS = 3;

sampledTest(1, "PyTorch: an exception gets through where several llmprofs watch at once", needs, async ({ path }) => {
  using folder = temporary();
  const stop = folder.file("stop");
  await using net = start([debianPython, throwing, String(THROWERS), "0", stop], LIMIT);
  await net.saw('"torch"');
  const watchers = Array.from({ length: WATCHERS }, () => temporary());
  const llmprofs = watchers.map((folder) => startLlmprof("operators", { bpftrace: path, folder, target: { pid: net.pid }, ...LEARNING }));
  try {
    await Promise.all(llmprofs.map((llmprof) => llmprof.saw("Tracing process")));
    await using stranger = start([debianPython, throwing, String(THROWERS), String(THROWS)], SHORTER);
    await stranger.succeeded();
    Deno.writeTextFileSync(stop, "");
    await net.succeeded().catch((error) => assert.fail([error.message, ...llmprofs.map((llmprof) => llmprof.stderr())].join("\n")));
    for (const llmprof of llmprofs) {
      const { notes } = torchSummaryOf(await llmprof.finished());
      assert.ok(notes.some((text) => TARGET_STOOD.test(text)), notes.join("\n"));
    }
  } finally {
    await Promise.all(llmprofs.map((llmprof) => llmprof[Symbol.asyncDispose]()));
    for (const folder of watchers) folder[Symbol.dispose]();
  }
}, true);

/** Throws at its end, when the file is there. */
const throwsLast = `import os, sys, time, torch
a, b = torch.zeros(4, 5), torch.zeros(4, 5)
print('"torch"', flush=True)
while not os.path.exists(sys.argv[1]):
    torch.relu(a)
    time.sleep(0.005)
try: torch.mm(a, b)
except RuntimeError: print("caught")
`;

sampledTest(0, "PyTorch: where what lets exceptions through is killed the run ends, and the target's next one is caught", needs, async ({ path }) => {
  using folder = temporary();
  const stop = folder.file("stop");
  await using net = start([debianPython, "-c", throwsLast, stop], LIMIT);
  await net.saw('"torch"');
  await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { pid: net.pid }, ...LEARNING });
  await llmprof.saw("Tracing process");
  const all = bpftracesOf(llmprof.pid);
  // It says so little that its buffer is the smallest.
  const unwinder = all.find((pid) => Deno.readTextFileSync(`/proc/${pid}/environ`).includes("BPFTRACE_PERF_RB_PAGES=64\0"));
  Deno.kill(unwinder!, "SIGKILL");
  const { code, stderr } = await llmprof.finished();
  assert.equal(code, 1, stderr);
  assert.match(stderr, /^bpftrace ended while it traced \('unwind'\)\. Somebody killed it, or the kernel did/m);
  await until("nothing is attached any more", () => all.every((pid) => row(pid) === undefined));
  Deno.writeTextFileSync(stop, "");
  assert.match((await net.succeeded()).stdout, /^caught$/m);
});

sampledTest(1, "PyTorch: a program that llmprof starts throws, and its calls that return are counted", needs, async ({ name, path }) => {
  using folder = temporary();
  await testThrowing(folder, name, path, []);
});

sampledTest(1, "PyTorch: …where what unwinds its stack lies in a folder of its own", needs, async ({ name, path }) => {
  using folder = temporary();
  Deno.copyFileSync("/lib/x86_64-linux-gnu/libgcc_s.so.1", folder.file("libgcc_s.so.1"));
  await testThrowing(folder, name, path, ["env", `LD_LIBRARY_PATH=${folder.path}`]);
}, true);

sampledTest(1, "PyTorch: …and where another library than GCC's unwinds it, which was loaded before", needs, async ({ name, path }) => {
  using folder = temporary();
  await testThrowing(folder, name, path, ["env", "LD_PRELOAD=libunwind.so.8"]);
}, true);

async function testThrowing(folder: Temporary, name: string, path: string, through: readonly string[]): Promise<void> {
  const argv = [...through, debianPython, throwing, String(THROWERS), String(THROWS)];
  await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { argv }, formats: [], ...LIMIT });
  const finished = await llmprof.finished();
  if (!placesThousands(name)) return assertRefused(finished);
  assert.doesNotMatch(finished.stderr, /cannot be preloaded/);
  const { result, events, notes } = torchSummaryOf(finished);
  const calls = (operator: string) => result.operators.find(({ name }) => name === operator)?.calls;
  const told = `${JSON.stringify(events)}\n${notes.join("\n")}\n${finished.stderr}`;
  assert.deepEqual([calls("relu"), calls("mm"), events.lost], [THROWERS * THROWS, undefined, 0], told);
  assert.ok(notes.some((text) => TARGET_STOOD.test(text)), notes.join("\n"));
}

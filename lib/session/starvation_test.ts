import assert from "node:assert/strict";
import { start } from "../../tests/harness/command.ts";
import { fakeSpawn } from "../../tests/harness/fake_child.ts";
import { FakeProc } from "../../tests/harness/fake_machine.ts";
import { kernelTest } from "../../tests/harness/kernel.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { ExitCode, LlmprofError } from "../events/errors.ts";
import { spawnChild } from "../machine/child.ts";
import { ReaderFiles } from "../machine/reader_files.ts";
import { keepRunning } from "./starvation.ts";

const refusing = (): never => {
  throw new LlmprofError(ExitCode.failed, "setpriv could not be started.", "There is no room for another process.", "Make memory free.");
};

/**
 * A bpftrace at each look, a tenth of a second after the one before: the bytes that it has handed on, and whether it is paused; `undefined`: it has ended.
 * `behind`: by how many ms it has fallen behind at a look.
 */
async function watched(
  looks: readonly (number | "paused" | undefined)[],
  { state = "R", chrt = 0, behind = (_look: number) => 0, limit = "unlimited", ends: isOver = false }: {
    readonly state?: string | ((look: number) => string);
    readonly chrt?: number | null;
    readonly behind?: (look: number) => number;
    /** Of the time for which it may be real-time at a stretch. */
    readonly limit?: string;
    /** It ends while it is put before others. */
    readonly ends?: boolean;
  } = {},
) {
  using folder = temporary();
  const proc = new FakeProc(folder.path);
  const process = () => proc.process(7, 1, "bpftrace", typeof state === "string" ? state : state(look));
  const argv: string[] = [], said: string[] = [];
  const spawn = fakeSpawn(({ options: { program, args = [] }, ends }) => {
    argv.push([program, ...args].join(" "));
    if (isOver) reader.tap.closed = true;
    ends(chrt ?? 0);
  });
  const reader = { running: { pid: 7, isPaused: false }, tap: { closed: false, delivered: 0 }, fellBehind: 0 };
  let look = 0;
  process();
  Deno.writeTextFileSync(
    `${folder.path}/proc/7/limits`,
    `Max realtime priority     0                    0\nMax realtime timeout      ${limit}            unlimited            us\n`,
  );
  const sleep = (milliseconds: number) => {
    assert.equal(milliseconds, 100);
    const now = looks[look++];
    process();
    reader.fellBehind = behind(look) * 1e6;
    reader.running.isPaused = now === "paused";
    if (typeof now === "number") reader.tap.delivered = now;
    if (now === undefined) reader.tap.closed = true;
    return Promise.resolve();
  };
  const means = { files: proc.files, spawn: chrt === null ? refusing : spawn, sleep, self: 50 };
  await keepRunning(reader, means, (text) => said.push(text));
  return { said, look, argv };
}

const RAISED = ": since then what reads comes before whatever has no real-time priority";
const FIRST = ["chrt -a -R -r -p 1 7", "chrt -a -R -r -p 1 50"];
Deno.test("starvation: a bpftrace that runs, says nothing at three looks and waits for a processor comes before others, once", async () => {
  const { said, look, argv } = await watched([5, 9, 9, 9, 9, 10, 10, 10, 10, undefined]);
  assert.deepEqual([said, look, argv], [[`bpftrace got no processor for 0.3 s${RAISED}`], 10, FIRST.slice(0, 1)]);
});

Deno.test("starvation: who says something, is paused, stands still or has ended lacks no processor", async () => {
  for (const looks of [[5, 5, 6, 6, 7, undefined], [5, "paused", "paused", "paused", "paused", 6, undefined], [5, 5, undefined]] as const) {
    assert.deepEqual(await watched(looks), { said: [], look: looks.length, argv: [] });
  }
  for (const state of ["S", "T", "D"]) assert.deepEqual((await watched([5, 5, 5, 5, 5, 5, 5, undefined], { state })).argv, []);
});

Deno.test("starvation: where it may not come before others, or there is no room for who would put it there, that is said", async () => {
  for (const chrt of [1, 127, null]) {
    const { said } = await watched([5, 5, 5, 5, undefined], { chrt });
    assert.match(said.join(), /no processor for 0.3 s, and could not be put before others \(chrt\): events may be lost/);
  }
});

Deno.test("starvation: where what comes is read more slowly than it comes, bpftrace and llmprof come before others, once", async () => {
  const saying = [...Array.from({ length: 30 }, (_, i) => i), undefined];
  const text = `what comes was not read as fast as it comes${RAISED}`;
  const { said, look, argv } = await watched(saying, { behind: (look) => look < 12 ? 300 : 301 });
  assert.deepEqual([said, look, argv], [[text], 13, FIRST]);
  const twice = await watched([5, 5, 5, 5, ...saying], { behind: (look) => 100 * look - 500 });
  assert.deepEqual([twice.said.length, twice.argv], [2, [FIRST[0], ...FIRST]]);
  // One look alone: llmprof stood still.
  assert.deepEqual((await watched(saying, { behind: (look) => look % 2 === 0 ? 5000 : 0 })).said, []);
});

Deno.test("starvation: who is behind because somebody has stopped it lacks no processor; when it goes on, it may", async () => {
  const saying = [...Array.from({ length: 30 }, (_, i) => i), undefined];
  for (const state of ["T", "t"]) {
    assert.deepEqual(await watched(saying, { state, behind: (look) => 100 * look }), { said: [], look: saying.length, argv: [] });
    assert.equal((await watched(saying, { state: (look) => look < 10 ? state : "S", behind: (look) => 100 * look })).look, 11);
  }
});

Deno.test("starvation: whom the kernel would end for being real-time is not, and that is said", async () => {
  const { said, argv } = await watched([5, 5, 5, 5, undefined], { limit: "200000   " });
  assert.match(said.join(), /no processor for 0.3 s, and could not be put before others \(RLIMIT_RTTIME\): events may be lost/);
  assert.deepEqual(argv, []);
});

Deno.test("starvation: of one that ended before it could come before others nothing is said", async () => {
  for (const behind of [() => 0, () => 500]) assert.deepEqual((await watched([5, 5, 5, 5, 5], { chrt: 1, ends: true, behind })).said, []);
});

/** Its policy and its real-time priority, as the kernel tells them: fields 41 and 40. */
function scheduled(pid: number): string[] {
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ")[1]!.split(" ");
  return [fields[38]!, fields[37]!];
}

kernelTest("starvation: what llmprof and bpftrace start when they come before others does not", { root: true }, async () => {
  using folder = temporary();
  const go = folder.file("go");
  const script = 'echo ready; until [ -e "$0" ]; do sleep 0.02; done; sleep 60 & echo "started $!"; wait';
  await using bpftrace = start(["sh", "-c", script, go]);
  await using llmprof = start(["sh", "-c", script, go]);
  for (const each of [bpftrace, llmprof]) await each.saw("ready");
  const reader = { running: { pid: bpftrace.pid, isPaused: false }, tap: { closed: false, delivered: 0 }, fellBehind: 1e9 };
  const sleep = () => Promise.resolve(void reader.tap.delivered++);
  const said: string[] = [];
  await keepRunning(reader, { files: new ReaderFiles(), spawn: spawnChild, sleep, self: llmprof.pid }, (text) => said.push(text));
  assert.deepEqual(said, [`what comes was not read as fast as it comes${RAISED}`]);
  Deno.writeTextFileSync(go, "");
  for (const each of [bpftrace, llmprof]) {
    await each.saw(/^started \d+$/m);
    const child = Number(/^started (\d+)$/m.exec(each.stdout())![1]);
    const policies = [scheduled(each.pid), scheduled(child)];
    Deno.kill(child);
    assert.deepEqual(policies, [["2", "1"], ["0", "0"]]);
  }
});

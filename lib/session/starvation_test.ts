import assert from "node:assert/strict";
import { fakeSpawn } from "../../tests/harness/fake_child.ts";
import { FakeProc } from "../../tests/harness/fake_machine.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { ExitCode, LlmprofError } from "../events/errors.ts";
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
  { state = "R", chrt = 0, behind = (_look: number) => 0 }: {
    readonly state?: string;
    readonly chrt?: number | null;
    readonly behind?: (look: number) => number;
  } = {},
) {
  using folder = temporary();
  const proc = new FakeProc(folder.path);
  proc.process(7, 1, "bpftrace", state);
  const argv: string[] = [], said: string[] = [];
  const spawn = fakeSpawn(({ options: { program, args = [] }, ends }) => {
    argv.push([program, ...args].join(" "));
    ends(chrt ?? 0);
  });
  const reader = { running: { pid: 7, isPaused: false }, tap: { closed: false, delivered: 0 }, fellBehind: 0 };
  let look = 0;
  const sleep = (milliseconds: number) => {
    assert.equal(milliseconds, 100);
    const now = looks[look++];
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
const FIRST = ["chrt -a -r -p 1 7", "chrt -a -r -p 1 50"];
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

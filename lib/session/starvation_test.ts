import assert from "node:assert/strict";
import { type FakeChild, fakeSpawn } from "../../tests/harness/fake_child.ts";
import { FakeProc } from "../../tests/harness/fake_machine.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { ExitCode, LlmprofError } from "../events/errors.ts";
import { unstarve } from "./starvation.ts";

const refusing = (): never => {
  throw new LlmprofError(ExitCode.failed, "setpriv could not be started.", "There is no room for another process.", "Make memory free.");
};

/** A bpftrace at each look, a tenth of a second after the one before: the bytes that it has handed on, and whether it is paused; `undefined`: it has ended. */
async function watched(state: string, looks: readonly (number | "paused" | undefined)[], chrt: number | null = 0) {
  using folder = temporary();
  const proc = new FakeProc(folder.path);
  proc.process(7, 1, "bpftrace", state);
  const children: FakeChild[] = [];
  const spawn = fakeSpawn((child) => {
    children.push(child);
    if (chrt !== null) child.ends(chrt);
  });
  const reader = { running: { pid: 7, isPaused: false }, tap: { closed: false, delivered: 0 } };
  let look = 0;
  const sleep = (milliseconds: number) => {
    assert.equal(milliseconds, 100);
    const now = looks[look++];
    reader.running.isPaused = now === "paused";
    if (typeof now === "number") reader.tap.delivered = now;
    if (now === undefined) reader.tap.closed = true;
    return Promise.resolve();
  };
  const means = { files: proc.files, spawn: chrt === null ? refusing : spawn, sleep };
  return { said: await unstarve(reader, means), look, argv: children.map(({ options: { program, args = [] } }) => [program, ...args].join(" ")) };
}

const raised = "bpftrace got no processor for 0.3 s: since then it comes before whatever has no real-time priority";

Deno.test("starvation: a bpftrace that runs, says nothing at three looks and waits for a processor comes before others, once", async () => {
  const { said, look, argv } = await watched("R", [5, 9, 9, 9, 9, 9, undefined]);
  assert.deepEqual([said, look, argv], [raised, 5, ["chrt -r -p 1 7"]]);
});

Deno.test("starvation: who says something, is paused, stands still or has ended lacks no processor", async () => {
  for (const looks of [[5, 5, 6, 6, 7, undefined], [5, "paused", "paused", "paused", "paused", 6, undefined], [5, 5, undefined]] as const) {
    assert.deepEqual(await watched("R", looks), { said: null, look: looks.length, argv: [] });
  }
  for (const state of ["S", "T", "D"]) assert.deepEqual((await watched(state, [5, 5, 5, 5, 5, 5, 5, undefined])).argv, []);
});

Deno.test("starvation: where it may not come before others, or there is no room for who would put it there, that is said", async () => {
  for (const chrt of [1, 127, null]) {
    const { said } = await watched("R", [5, 5, 5, 5, undefined], chrt);
    assert.match(said!, /no processor for 0.3 s, and could not be put before others \(chrt\): events may be lost/);
  }
});

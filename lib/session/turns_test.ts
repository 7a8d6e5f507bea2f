import assert from "node:assert/strict";
import { FakeProc } from "../../tests/harness/fake_machine.ts";
import { seeded, TestSpans } from "../../tests/harness/spans.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { calls } from "../../probes/llama/calls.ts";
import { ops } from "../../probes/ggml/ops.ts";
import type { Means } from "./means.ts";
import { SlowTokens } from "./slow_tokens.ts";
import { Learning } from "./learning.ts";
import { learningTurns, regularTurns, slowTurns } from "./turns.ts";

Deno.test("turns: regular ones begin at equal distances; one that took too long to attach or to detach costs the next", async () => {
  let now = 500;
  const slept: number[] = [];
  const sleep = (ms: number) => Promise.resolve(void slept.push(ms));
  const next = regularTurns({ sleep, monotonic: () => now } as Partial<Means> as Means, [calls], 1000, 4000);
  const turn = next();
  await turn.over();
  // The first began at 500; nothing is attached any more at these moments.
  for (now of [1500, 5600, 13_000]) await next().rest!();
  assert.deepEqual(slept, [1000, 3000, 2900, 3500]);
  assert.deepEqual(next().probes, [calls]);
});

Deno.test("turns: in an hour there are as many as were asked for, each as long, however long attaching takes within a rest", async () => {
  let now = 7000;
  const sleep = (ms: number) => Promise.resolve(void (now += ms));
  const next = regularTurns({ sleep, monotonic: () => now } as Partial<Means> as Means, [calls], 2000, 30_000);
  const begun: number[] = [], attaching = seeded(1), detaching = seeded(2);
  // What is attached for the first turn is attached before the hour begins.
  for (let before = 0; now < 7000 + 3_600_000; before = attaching(20_000)) {
    now += before;
    const turn = next(), from = now;
    begun.push(from - before);
    await turn.over();
    assert.equal(now - from, 2000);
    now += detaching(7000);
    await turn.rest!();
  }
  assert.deepEqual(begun, Array.from({ length: 120 }, (_, i) => 7000 + 30_000 * i));
});

Deno.test("turns: tokens alone until one is slow, then more for a while, and again", async () => {
  const slept: number[] = [];
  const tokens = new SlowTokens(1.5);
  const sleep = (ms: number) => Promise.resolve(void slept.push(ms));
  const next = slowTurns({ sleep } as Partial<Means> as Means, tokens, { watch: [calls], look: [calls, ops], forMs: 2000 });
  const s = new TestSpans();
  for (let round = 0; round < 2; round++) {
    const watching = next();
    const note = round === 0 ? undefined : "tokens alone again, until one is slow";
    assert.deepEqual([watching.probes, watching.note, watching.rest], [[calls], note, undefined]);
    const over = watching.over();
    for (let i = 0; i <= 16; i++) tokens.span(s.decode("decode", 10 * i, 10 * i + 10));
    tokens.span(s.decode("decode", 180, 191.04));
    await over;
    const looking = next();
    assert.deepEqual(looking.probes, [calls, ops]);
    assert.equal(looking.note, "a token took 21.0 ms, 2.1 times the median of those before (10.0 ms): operators are looked at for 2 s");
    await looking.over();
  }
  assert.deepEqual(slept, [2000, 2000]);
});

Deno.test("turns: what runs is learned first; a process that computes nothing is waited for, and what comes later is waited out", async () => {
  using folder = temporary();
  const proc = new FakeProc(folder.path);
  proc.process(7, 1, "python3");
  Deno.writeTextFileSync(folder.file("proc/7/maps"), "7f0000000000-7f0000001000 r-xp 00000000 08:02 5 /opt/python3\n");
  const slept: number[] = [];
  const learning = new Learning({ files: proc.files, sleep: (ms: number) => Promise.resolve(void slept.push(ms)) } as Partial<Means> as Means, 2000);
  const next = learningTurns({} as Means, learning, { learn: [calls], look: (functions) => functions.length === 0 ? [ops] : [] });
  const first = next();
  assert.deepEqual([first.probes, first.learns, learning.isIdle], [[calls], true, true]);
  const over = first.over();
  const caller = (address: number, pid = 7) =>
    learning.heard({ at: 0, stream: "target", record: "torch/learn.caller", pid, tid: pid, values: [address] });
  caller(1);
  caller(2);
  // A worker that has ended.
  caller(3, 8);
  await over;
  assert.deepEqual([slept, learning.isIdle], [[2000], false]);
  const second = next();
  assert.deepEqual([second.probes, second.lasts, second.note], [[ops], true, learning.learned]);
  assert.equal(
    learning.learned,
    "no operator is known by its name, and none is timed; 2 other places dispatch some as well, which are not timed",
  );
  void second.over();
  await learning.isApplied;
  assert.deepEqual(next().probes, [ops]);
});

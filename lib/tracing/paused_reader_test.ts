import assert from "node:assert/strict";
import { pauseReader } from "./paused_reader.ts";

/** Events that come at a rate while a fake clock goes on; a reader that runs delivers at once what has come. */
function world(bytesPerMs: (ms: number) => number, bufferBytes: number, endMs: number) {
  let ms = 0, running = true, delivered = 0, waiting = 0, last = NaN, fullest = 0;
  const pauses: number[] = [];
  let pausedAt = 0, runMs = 0;
  const abort = new AbortController();
  const reader = {
    pause: () => {
      running = false;
      pausedAt = ms;
    },
    resume: () => {
      running = true;
      pauses.push(ms - pausedAt);
    },
    delivered: () => delivered,
    lastEvent: () => last,
  };
  const rhythm = {
    bufferBytes,
    now: () => ms * 1e6,
    sleep: (milliseconds: number) => {
      for (let i = 0; i < milliseconds; i++) {
        ms++;
        waiting += bytesPerMs(ms);
        fullest = Math.max(fullest, waiting);
        if (!running) continue;
        runMs++;
        if (waiting > 0) last = ms * 1e6;
        delivered += waiting;
        waiting = 0;
      }
      if (ms >= endMs) abort.abort();
      return Promise.resolve();
    },
  };
  return { reader, rhythm, signal: abort.signal, told: () => ({ pauses, running, fullest, runMs, ms }) };
}

Deno.test("paused reader: it pauses for a second at most, and runs only until it has caught up", async () => {
  const { reader, rhythm, signal, told } = world(() => 10, 16 << 20, 20_000);
  await pauseReader(reader, rhythm, signal);
  const { pauses, running, runMs, ms } = told();
  assert.deepEqual(pauses.slice(0, 6), [20, 40, 80, 160, 320, 640]);
  assert.equal(Math.max(...pauses), 1000);
  assert.ok(runMs < ms / 50, `it ran ${runMs} of ${ms} ms`);
  assert.ok(running, "the reader is left running");
});

Deno.test("paused reader: at a high rate it pauses for half a buffer", async () => {
  const { reader, rhythm, signal, told } = world(() => 10_000, 1_000_000, 5000);
  await pauseReader(reader, rhythm, signal);
  const { pauses, fullest } = told();
  assert.ok(Math.max(...pauses) <= 50, `${Math.max(...pauses)}`);
  assert.ok(fullest <= 600_000, `${fullest}`);
});

Deno.test("paused reader: when events come faster it pauses shorter, and a burst does not lengthen the pause at once", async () => {
  const { reader, rhythm, signal, told } = world((ms) => ms < 3000 ? 100 : 50_000, 2_000_000, 6000);
  await pauseReader(reader, rhythm, signal);
  const { pauses } = told();
  assert.equal(Math.max(...pauses), 1000);
  assert.ok(pauses.at(-1)! <= 40, `${pauses.at(-1)}`);
});

Deno.test("paused reader: with nothing to read it is not kept awake", async () => {
  const { reader, rhythm, signal, told } = world(() => 0, 1 << 20, 10_000);
  await pauseReader(reader, rhythm, signal);
  const { runMs, ms, pauses } = told();
  assert.equal(Math.max(...pauses), 1000);
  assert.ok(runMs < ms / 10);
});

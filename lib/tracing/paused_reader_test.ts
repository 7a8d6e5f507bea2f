import assert from "node:assert/strict";
import { pauseReader } from "./paused_reader.ts";
import { Reading } from "./reading.ts";

const BEAT_MS = 100;

/**
 * Bytes that come at a rate, and a heartbeat each 100 ms, while a fake clock goes on. A reader that runs takes a thousand times as much in a millisecond as
 * comes at the lowest rate, and hands on what it has read with the heartbeat, or when 4096 bytes have come together.
 */
function world(
  bytesPerMs: (ms: number) => number,
  bufferBytes: number,
  endMs: number,
  { readsPerMs = 60_000, due = (_ms: number) => Infinity } = {},
) {
  let ms = 0, running = true, delivered = 0, held = 0, fullest = 0, lost = 0;
  const waiting: { at: number; bytes: number; isBeat: boolean }[] = [];
  const pauses: number[] = [];
  let pausedAt = 0, idleMs = 0;
  const abort = new AbortController();
  const reading = new Reading();
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
    lastBeat: () => reading.lastBeat,
    // The clock goes on while somebody waits for a line.
    reached: async (at: number) => {
      let there = false;
      void reading.reached(at).then(() => there = true);
      for (await Promise.resolve(); !there && !abort.signal.aborted; await Promise.resolve()) step();
    },
  };
  const filled = () => waiting.reduce((sum, { bytes }) => sum + bytes, 0);
  const read = () => {
    if (waiting.length <= 1) idleMs++;
    for (let taken = 0; taken < readsPerMs && waiting.length > 0;) {
      const { at, bytes, isBeat } = waiting.shift()!;
      taken += bytes;
      held += bytes;
      if (isBeat) reading.beat(at);
      else if (held >= 4096) reading.saw(at);
      if (!isBeat && held < 4096) continue;
      delivered += held;
      held = 0;
    }
  };
  const step = () => {
    ms++;
    // What comes in this millisecond is read in the next one.
    if (running) read();
    const bytes = bytesPerMs(ms);
    if (filled() + bytes > bufferBytes) lost += bytes;
    else waiting.push({ at: ms * 1e6, bytes, isBeat: false });
    if (ms % BEAT_MS === 0) waiting.push({ at: ms * 1e6, bytes: 0, isBeat: true });
    fullest = Math.max(fullest, filled());
    if (ms >= endMs) abort.abort();
  };
  const rhythm = {
    bufferBytes,
    beatMs: BEAT_MS,
    due: () => due(ms) * 1e6,
    now: () => ms * 1e6,
    sleep: async (milliseconds: number) => {
      const until = ms + milliseconds;
      while (ms < until && !abort.signal.aborted) {
        step();
        await Promise.resolve();
      }
    },
  };
  return { reader, rhythm, signal: abort.signal, told: () => ({ pauses, running, fullest, lost, idleMs, ms }) };
}

Deno.test("paused reader: it pauses for as long as a sudden burst leaves room, and stops as soon as it has caught up", async () => {
  const { reader, rhythm, signal, told } = world(() => 10, 16 << 20, 20_000);
  await pauseReader(reader, rhythm, signal);
  const { pauses, running, idleMs, ms } = told();
  assert.ok(pauses[0] === 20 && pauses[1]! <= 84, `${pauses}`);
  assert.ok(Math.max(...pauses) > 400 && Math.max(...pauses) <= 850, `${pauses}`);
  assert.ok(idleMs < ms / 50, `it ran ${idleMs} of ${ms} ms with nothing to do`);
  assert.ok(running, "the reader is left running");
});

Deno.test("paused reader: never longer than a second, however large the buffer", async () => {
  const { reader, rhythm, signal, told } = world(() => 10, 1 << 30, 20_000);
  await pauseReader(reader, rhythm, signal);
  const longest = Math.max(...told().pauses);
  assert.ok(longest > 800 && longest <= 1005, `${longest}`);
});

Deno.test("paused reader: where somebody waits for something, no pause goes beyond it by more than a heartbeat", async () => {
  const { reader, rhythm, signal, told } = world(() => 10, 1 << 30, 20_000, { due: (ms) => ms < 10_000 ? 10_000 : Infinity });
  let resumed = NaN;
  const { resume } = reader;
  reader.resume = () => {
    resume();
    const { ms } = told();
    if (!(resumed >= 10_000)) resumed = ms;
  };
  await pauseReader(reader, rhythm, signal);
  assert.ok(resumed <= 10_000 + BEAT_MS, `it was read again at ${resumed}`);
  assert.ok(Math.max(...told().pauses) > 800, "before and after, it pauses as ever");
});

Deno.test("paused reader: while nobody knows when that will be, it reads with each heartbeat", async () => {
  const { reader, rhythm, signal, told } = world(() => 10, 1 << 30, 20_000, { due: () => -Infinity });
  await pauseReader(reader, rhythm, signal);
  const { pauses } = told();
  assert.ok(Math.max(...pauses) <= BEAT_MS + 4, `${Math.max(...pauses)}`);
});

Deno.test("paused reader: at a high rate it pauses for less than half a buffer", async () => {
  const { reader, rhythm, signal, told } = world(() => 10_000, 1_000_000, 5000);
  await pauseReader(reader, rhythm, signal);
  const { pauses, fullest, lost } = told();
  assert.ok(Math.max(...pauses) <= 55, `${Math.max(...pauses)}`);
  assert.ok(fullest <= 600_000, `${fullest}`);
  assert.equal(lost, 0);
});

Deno.test("paused reader: a rate that jumps in the middle of a pause loses nothing, and the next pauses are shorter", async () => {
  const { reader, rhythm, signal, told } = world((ms) => ms < 3000 ? 100 : 19_200, 16 << 20, 8000);
  await pauseReader(reader, rhythm, signal);
  const { pauses, lost } = told();
  assert.equal(lost, 0);
  assert.ok(pauses.at(-2)! < 400, `${pauses}`);
});

Deno.test("paused reader: when a high rate is over, it stops waiting for lines that do not come", async () => {
  const { reader, rhythm, signal, told } = world((ms) => ms < 3000 ? 16_000 : 10, 16 << 20, 20_000);
  await pauseReader(reader, rhythm, signal);
  const { pauses, idleMs, ms } = told();
  assert.ok(idleMs < ms / 20, `it ran ${idleMs} of ${ms} ms with nothing to do`);
  assert.ok(pauses.at(-2)! > 700, `${pauses}`);
});

Deno.test("paused reader: a reader that needs long to catch up is not stopped before", async () => {
  // It reads twice as fast as the bytes come: as long as it was paused.
  const { reader, rhythm, signal, told } = world(() => 10_000, 16 << 20, 10_000, { readsPerMs: 20_000 });
  await pauseReader(reader, rhythm, signal);
  const { lost, fullest } = told();
  assert.equal(lost, 0);
  assert.ok(fullest < 9e6, `${fullest}`);
});

Deno.test("paused reader: who ends the run does not wait for the end of a pause", async () => {
  const signals: string[] = [];
  const abort = new AbortController();
  const reader = {
    pause: () => void signals.push("pause"),
    resume: () => void signals.push("resume"),
    delivered: () => 0,
    lastBeat: () => NaN,
    reached: () => new Promise<void>(() => {}),
  };
  const rhythm = { now: () => 0, sleep: () => new Promise<void>(() => {}), bufferBytes: 1 << 20, beatMs: BEAT_MS, due: () => Infinity };
  const done = pauseReader(reader, rhythm, abort.signal);
  abort.abort();
  await done;
  assert.deepEqual(signals, ["pause", "resume"]);
});

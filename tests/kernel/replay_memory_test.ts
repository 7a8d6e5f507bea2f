/** A trace is streamed: what a replay takes does not grow with its length. */
import assert from "node:assert/strict";
import { replayMemory } from "./replay_memory.ts";

Deno.test("a recording of a million operators replays in at most 60 MB more than one of a hundred thousand", async () => {
  const [short, long] = [await replayMemory(100_000), await replayMemory(1_000_000)];
  assert.deepEqual([short.ops, long.ops, short.wrong, long.wrong], [100_000, 1_000_000, 0, 0], "all of them were replayed");
  const more = (long.peakBytes - short.peakBytes) / 1e6;
  assert.ok(short.peakBytes > 20e6, "the process was seen");
  assert.ok(more <= 60, `${more.toFixed(0)} MB more: ${(short.peakBytes / 1e6).toFixed(0)} and ${(long.peakBytes / 1e6).toFixed(0)}`);
});

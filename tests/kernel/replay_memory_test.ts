/** A trace is streamed: what a replay takes does not grow with its length. */
import assert from "node:assert/strict";
import { temporary } from "../harness/temporary.ts";
import { errors, judged, query } from "../judge/trace_processor.ts";
import { unpacked } from "../judge/unpacked.ts";
import { lastOfThree } from "./last_of_three.ts";
import { replayMemory } from "./replay_memory.ts";

/** Megabytes. */
const MOST_MORE = 60;
/** Of an operator's slice, its begin and its end with all that they say, and what of that is in the file. */
const MOST_BYTES = 56, MOST_WRITTEN = 5;

await judged("a recording of a million operators replays in at most 60 MB more than one of a hundred thousand, into a trace that opens", async () => {
  using folder = temporary();
  // When garbage is collected depends on who else computes.
  const { short, long, more } = await lastOfThree(async () => {
    const [short, long] = [await replayMemory(folder, 100_000), await replayMemory(folder, 1_000_000)];
    assert.deepEqual([short.ops, long.ops, short.wrong, long.wrong], [100_000, 1_000_000, 0, 0], "all of them were replayed");
    assert.ok(short.peakBytes > 20e6, "the process was seen");
    return { short, long, more: (long.peakBytes - short.peakBytes) / 1e6 };
  }, ({ more }) => more <= MOST_MORE);
  assert.ok(more <= MOST_MORE, `${more.toFixed(0)} MB more: ${(short.peakBytes / 1e6).toFixed(0)} and ${(long.peakBytes / 1e6).toFixed(0)}`);

  const [row] = await query(long.trace, "select count(*) as slices from slice where category = 'ggml.op'");
  assert.equal(row!.slices, 1_000_000n);
  assert.deepEqual(await errors(long.trace), []);
  const written = Deno.readFileSync(long.trace);
  const [each, writtenEach] = [unpacked(written).length / long.ops, written.length / long.ops];
  assert.ok(each <= MOST_BYTES && writtenEach <= MOST_WRITTEN, `${each} and ${writtenEach} bytes for each operator`);
});

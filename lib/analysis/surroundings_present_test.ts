import assert from "node:assert/strict";
import { limitNotes } from "./surroundings_present.ts";
import type { SurroundingsResult } from "./surroundings_schema.ts";

Deno.test("surroundings: who was killed lacked what its control group allows, or, where that is more than there was, the whole machine's memory", () => {
  const limits = { cpus: null, throttled: 0, throttledNs: 0, memoryBytes: null, reads: [] };
  const swapped = { swappedBytes: 0, swappedInPages: 0, swappedOutPages: 0 };
  const memory: SurroundingsResult["memory"] = { processes: [], residentBytes: 40 << 20, lockedBytes: 0, leastAvailableBytes: 60 << 20, ...swapped };
  const notes = (killed: number, memoryLimit: number | null) =>
    limitNotes({ limits: { ...limits, killed, memoryLimit }, memory }).map(({ text }) => text);
  const machine = "the whole machine had no memory left. Need less, or end other processes.";
  assert.deepEqual(notes(0, null), []);
  assert.deepEqual(notes(1, 100 << 20), ["The kernel killed a process: its control group allows 100.0 MiB of memory. Raise that, or need less."]);
  assert.deepEqual(notes(1, 101 << 20), [`The kernel killed a process: ${machine}`]);
  assert.deepEqual(notes(2, null), [`The kernel killed 2 processes: ${machine}`]);
});

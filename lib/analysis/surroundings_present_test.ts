import assert from "node:assert/strict";
import { quantity } from "../events/quantity.ts";
import type { Facts } from "../events/view.ts";
import { limitNotes, presentSurroundings } from "./surroundings_present.ts";
import type { SurroundingsResult } from "./surroundings_schema.ts";

const swapped = { swappedBytes: 0, swappedInPages: 0, swappedOutPages: 0 };
const memory: SurroundingsResult["memory"] = { processes: [], residentBytes: 40 << 20, lockedBytes: 0, leastAvailableBytes: 60 << 20, ...swapped };

Deno.test("surroundings: how long a group stood still adds up over processors, and is told as their time", () => {
  // On eight processors in ten seconds.
  const limits = { cpus: 4, throttled: 100, throttledNs: 40e9, memoryLimit: null, memoryBytes: null, killed: 0, reads: [] };
  const [{ facts }] = presentSurroundings({ limits, memory, pressure: null, groupPressure: null, stolen: null }) as [Facts];
  const { value, unit, note } = facts.find(({ name }) => name === "group stood still")!;
  assert.equal(`${quantity(value, unit)} ${note}`, "40.0 s of processors' time, 100 times: it is allowed 4 of a processor's time");
});

Deno.test("surroundings: who was killed lacked what its control group allows, or, where that is more than there was, the whole machine's memory", () => {
  const limits = { cpus: null, throttled: 0, throttledNs: 0, memoryBytes: null, reads: [] };
  const notes = (killed: number, memoryLimit: number | null) =>
    limitNotes({ limits: { ...limits, killed, memoryLimit }, memory }).map(({ text }) => text);
  const machine = "the whole machine had no memory left. Need less, or end other processes.";
  assert.deepEqual(notes(0, null), []);
  assert.deepEqual(notes(1, 100 << 20), ["The kernel killed a process: its control group allows 100.0 MiB of memory. Raise that, or need less."]);
  assert.deepEqual(notes(1, 101 << 20), [`The kernel killed a process: ${machine}`]);
  const any = "the machine, or a control group that is watched, had no memory left. Need less, or end other processes.";
  assert.deepEqual(notes(2, null), [`The kernel killed 2 processes: ${any}`]);
});

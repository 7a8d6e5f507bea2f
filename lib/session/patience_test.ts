import assert from "node:assert/strict";
import { withMachine } from "../../tests/harness/fake_machine.ts";
import { patience, patienceWith } from "./patience.ts";

Deno.test("patience: it waits as long as it is told, in steps of which one at most passes while llmprof does not run", async () => {
  const slept: number[] = [];
  await patience((milliseconds) => Promise.resolve(void slept.push(milliseconds)), 4000);
  assert.deepEqual(slept, [1500, 1500, 1000]);
});

Deno.test("patience: a process is waited for ten times as long while it is held up, and no longer than until it is over", async () => {
  const steps = async (state: (step: number) => string, ticks: (step: number) => number, over = Infinity) => {
    let slept = 0;
    await withMachine({ "/proc/7/stat": "" }, async (files, root) => {
      const sleep = async () => {
        const fields = `${state(slept)} 1 1 1 0 -1 0 1 0 1 0 ${ticks(slept++)} 0 0 0 20 0 1 0 100 6 7`;
        await Deno.writeTextFile(`${root}/proc/7/stat`, `7 (bpftrace) ${fields}\n`);
      };
      await patienceWith(7, { sleep, files }, 6000, () => slept >= over);
    });
    return slept;
  };
  // It waits for nothing that the machine owes it, or computes.
  assert.equal(await steps(() => "S", () => 5), 4);
  assert.equal(await steps(() => "R", (step) => 10 * step), 4);
  for (const state of ["D", "T"]) assert.equal(await steps(() => state, () => 5), 40);
  // The first look at who wants a processor tells nothing.
  assert.equal(await steps(() => "R", () => 5), 1 + 30);
  assert.equal(await steps((step) => step < 10 ? "D" : "S", () => 5), 10 + 3);
  assert.equal(await steps(() => "S", () => 5, 2), 2);
});

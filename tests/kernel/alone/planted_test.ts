/** Phases whose length is known are found, in whatever order they come, and so is the time that nothing explains. */
import assert from "node:assert/strict";
import { sampledTest } from "../../harness/kernel.ts";
import { plantedCalls } from "../../workloads/planted.ts";
import { lastOfThree } from "../last_of_three.ts";
import { isExact, type PlantedRun, plantedRun } from "../planted_run.ts";

const needs = { gcc: true, judge: true };

for (const [index, [by, words]] of ([["start", "of a program that it starts"], ["wait", "of a program that it waited for"]] as const).entries()) {
  sampledTest(index, `planted phases ${words} are found as long as they were`, needs, async ({ path: bpftrace }) => {
    const { phases, lines, order, decodes, accepted, summary } = await exactRun(bpftrace, by);
    assert.deepEqual([summary.events.lost, summary.events.undecodable], [0, 0]);
    const [main] = lines;
    assert.equal(summary.result.root?.pid, main?.pid);
    assert.deepEqual(phases.map(({ phase }) => phase), order);
    assert.deepEqual(phases.filter((phase) => !isExact(phase)), [], "each within 2 % or 5 ms of its own log, time at the gate taken out");
    assert.equal(accepted, lines.find(({ phase }) => phase === "listen")?.accepted);
    const listening = summary.result.milestones.find(({ name }) => name === "listening");
    const asked = summary.result.milestones.some(({ name }) => name === "connection accepted");
    assert.equal(asked, order.indexOf("listen") < order.indexOf("load"), "who comes behind the token did not ask for it");
    assert.equal(listening?.port, asked ? lines.find(({ phase }) => phase === "listen")?.port : undefined);
    assert.equal(decodes, plantedCalls, "the first call after dlopen is seen, and every other");
  });
}

/**
 * An order for each way; acceptance.ts tries others. In neither the sleep is last: what the kernel needs to take the process apart, with all that it has
 * mapped, would be a part of it.
 */
function exactRun(bpftrace: string, by: "start" | "wait"): Promise<PlantedRun> {
  return lastOfThree(() => plantedRun(bpftrace, by, by === "start" ? 1 : 4), ({ phases }) => phases.every(isExact));
}

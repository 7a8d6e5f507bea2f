/** How late an event may be in a live view: a second of a reader that stands still, and what it takes to read. */
import assert from "node:assert/strict";
import { readMeans } from "../../../lib/commands/means.ts";
import { DEFAULT_BUFFER_PAGES } from "../../../lib/machine/bpftrace.ts";
import { matrixTest } from "../../harness/kernel.ts";
import { Producer } from "../../workloads/rates.ts";
import { lastOfThree } from "../last_of_three.ts";
import { traced } from "../traced_rates.ts";

const LATEST_MS = 1200;
/** A reader's pauses grow for a second. */
const RUN_MS = 4000;

matrixTest("an event is late by 1.2 s at most, however much the buffer would hold", { gcc: true }, async ({ path }) => {
  await using producer = await Producer.start();
  for (const pages of [DEFAULT_BUFFER_PAGES, 16_384]) {
    const means = await readMeans(path);
    const run = () => traced(means, producer, "adaptive", () => producer.produce(20_000, RUN_MS), pages);
    const { latestMs, lost } = await lastOfThree(run, ({ latestMs }) => latestMs <= LATEST_MS);
    assert.equal(lost, 0);
    assert.ok(latestMs > 0 && latestMs <= LATEST_MS, `${latestMs} ms with ${pages} pages`);
  }
});

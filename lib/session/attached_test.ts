import assert from "node:assert/strict";
import { type FakeChild, fakeSpawn } from "../../tests/harness/fake_child.ts";
import { printed } from "../../tests/harness/lines.ts";
import { testProbe, testSchema } from "../../tests/harness/test_probe.ts";
import type { StreamSchema } from "../programs/schema.ts";
import { splitBase } from "../events/time.ts";
import { Timeline } from "../timeline/timeline.ts";
import { Attached } from "./attached.ts";
import { HostClock } from "./clock.ts";

/** A program that counts; what it prints is in the timeline when this returns. */
async function counting(more: Partial<StreamSchema> = {}, now = () => 0) {
  let child!: FakeChild;
  const process = fakeSpawn((c) => void (child = c))({ program: "bpftrace", stdin: "piped", stdout: "piped", stderr: "piped" });
  const schema = { ...testSchema("s"), ...more };
  const attached = new Attached({ text: "", unsafe: false, schema, sites: [], readsSums: false }, false, process, () => 0);
  const timeline = new Timeline({ base: splitBase(0n), find: () => testProbe, out: () => {} });
  attached.connect(timeline, null, new HostClock({ boottime: 0n, realtime: 0n }, now, 0));
  attached.openWindow();
  attached.closeWindow();
  let drained: boolean | undefined;
  void attached.drain(() => new Promise(() => {})).then((whole) => drained = whole);
  const says = async (...lines: string[]) => {
    child.says(printed(lines.join("\n") + "\n"));
    await new Promise((resolve) => setTimeout(resolve));
    return drained;
  };
  await says("1 5 0");
  const closings = () => child.signals.filter((signal) => signal === "SIGURG").length;
  return { says, closings, attached, tally: timeline.tallies.get("s")! };
}

Deno.test("attached: it is drained by the count behind its end, and where nothing was counted, by two heartbeats of time", async () => {
  const { says } = await counting();
  assert.equal(await says("(9, 7)", "@n: 1", "2 10 0", "(9, 10)", "@n: 1", "(9, 300000000)"), undefined);
  assert.equal(await says("@n: 1"), true);
  const { says: none } = await counting();
  assert.equal(await none("(9, 7)", "2 10 0", "(9, 11)", "(9, 200000010)"), undefined);
  assert.equal(await none("(9, 200000011)"), true);
});

Deno.test("attached: where a full buffer had no room for the end's record, the end is asked for again, once", async () => {
  const { says, closings } = await counting();
  assert.equal(await says("(9, 7)", "@n: 1", "(9, 150000000)", "@n: 1"), undefined);
  assert.equal(closings(), 1);
  assert.equal(await says("(9, 300000000)", "@n: 1", "(9, 400000000)", "@n: 1"), undefined);
  assert.equal(closings(), 2);
  assert.equal(await says("2 410000000 0", "(9, 500000000)", "@n: 1"), true);
  assert.equal(closings(), 2);
});

Deno.test("attached: how long after the kernel told it the latest heartbeat came", async () => {
  let now = 0;
  const { says, attached } = await counting({}, () => now);
  await says("(9, 3000000000)");
  assert.equal(attached.late, 0);
  now = 7000;
  await says("(9, 4000000000)", "(9, 10000000000)");
  assert.equal(attached.late, 6e9);
});

Deno.test("attached: that the machine was suspended the next heartbeat tells", async () => {
  let now = 0;
  const { says, attached } = await counting({}, () => now), slept: number[] = [];
  attached.onSlept = (ns) => void slept.push(Math.round(ns / 1e6));
  await says("(9, 3000000000)");
  now = 100;
  await says("(9, 3100000000)", "(9, 3400000000)", "(9, 63400000000)", "(9, 63500000000)");
  assert.deepEqual(slept, [60_000]);
});

Deno.test("attached: rows of maps that were written before its end are waited for", async () => {
  const { says, tally } = await counting({ rows: ["t/p.hit"] });
  assert.equal(await says("2 10 0", "(9, 11)", "@n: 2", "@rows0[6, 0]: (10, 1/1, 7)", "(8, 8)", "(9, 12)", "(9, 13)"), undefined);
  assert.equal(await says("@rows1[9, 0]: (10, 1/1, 7)", "(8, 14)"), true);
  assert.equal(tally.received, 2);
});

Deno.test("attached: behind a heartbeat of one processor's buffer, what another one holds is waited for", async () => {
  const { says, tally } = await counting({ buffers: 2 });
  assert.equal(await says("(9, 4, 1)", "2 10 0", "(9, 11, 0)", "@n: 1", "(9, 12, 0)", "@n: 1", "(9, 13, 0)", "@n: 1"), undefined);
  assert.equal(await says("10 7 1/1 7", "(9, 11, 1)"), undefined);
  assert.equal(await says("@n: 1"), true);
  assert.equal(tally.received, 1);
});

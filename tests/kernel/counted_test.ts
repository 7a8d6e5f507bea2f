/** Everything is counted and nothing is lost: on a real engine, by all who count. */
import assert from "node:assert/strict";
import { deafBpftrace } from "../harness/deaf_bpftrace.ts";
import { matrixTest, sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { type Counted, countedRun, operatorsPerGraph } from "./counted_run.ts";

const needs = { engine: true, judge: true };

matrixTest("operators of a program that it starts: every call and every operator is in the trace", needs, async ({ path: bpftrace }) => {
  const run = await countedRun({ command: "operators", by: "start", bpftrace });
  assertComplete(run);
  assertStopped(run);
  assert.equal(run.trace.ops, run.log.decodes * await operatorsPerGraph(bpftrace));
});

sampledTest(1, "operators of a running process, on two threads: every operator on both workers", needs, async ({ path: bpftrace }) => {
  const run = await countedRun({ command: "operators", by: "pid", bpftrace, threads: 2 });
  assertComplete(run);
  assert.equal(run.trace.stops.length, 0, "a process that has all its libraries is not stopped");
  assert.equal(run.trace.workers, 2);
  assert.equal(run.trace.ops, run.log.decodes * await operatorsPerGraph(bpftrace) * 2);
});

sampledTest(1, "coldstart of a program that it starts: every call is in the trace", needs, async ({ path: bpftrace }) => {
  const run = await countedRun({ command: "coldstart", by: "start", bpftrace });
  assertComplete(run);
  assertStopped(run);
});

sampledTest(0, "operators where bpftrace finds no names of llmprof's: the same, at the beginnings of functions", needs, async ({ path }) => {
  using folder = temporary();
  const bpftrace = deafBpftrace(path, folder);
  const run = await countedRun({ command: "operators", by: "pid", bpftrace });
  assertComplete(run);
  assert.equal(run.trace.ops, run.log.decodes * await operatorsPerGraph(bpftrace));
  const sites = run.summary.probes.filter(({ site }) => !site.startsWith("tracepoint:")).map(({ site }) => site);
  assert.deepEqual(sites.filter((site) => /\+\d+$/.test(site)), []);
});

function assertComplete({ log, summary, trace, kernel, differ, firstToken }: Counted): void {
  const { emitted, received, lost, undecodable } = summary.events;
  assert.deepEqual(trace.errors, [], "Perfetto's reader understood all of it");
  assert.equal(trace.decodes, log.decodes);
  assert.ok(emitted > log.decodes);
  assert.deepEqual({ received, lost, undecodable }, { received: emitted, lost: 0, undecodable: 0 });
  assert.deepEqual([trace.lost, summary.notes], [[], []]);
  assert.deepEqual(kernel.dumped, kernel.printed, "the counters in the kernel are what the programs printed last");
  assert.equal(kernel.dumped.reduce((sum, count) => sum + count, 0), emitted);
  assert.deepEqual(differ, [], "a replay gives the same bytes");
  const { asked, called, computed, told, had, used } = firstToken;
  const isInOrder = asked < called && computed - 1000n < told && told <= had && had < used;
  assert.ok(
    isInOrder,
    `first token at ${told}: asked for at ${asked}, computed from ${called} to ${computed}, there at ${had}, decoded until ${used}`,
  );
}

/** How long it stood is a figure of acceptance.ts, which is run on a quiet machine. */
function assertStopped({ trace }: Counted): void {
  assert.ok(trace.stops.length > 0);
}

import assert from "node:assert/strict";
import { main, off, result, run, shut, worker } from "../../tests/harness/sched_spans.ts";
import { analyse, MS } from "../../tests/harness/spans.ts";
import type { Span } from "../events/span.ts";
import type { Affinity } from "../events/surroundings.ts";
import type { Node } from "./numa.ts";
import { sched } from "./sched.ts";
import { presentSched } from "./sched_present.ts";
import { schedResultSchema } from "./sched_schema.ts";

Deno.test("sched: threads on one node and memory in another, and what to type", () => {
  const nodes: Node[] = [{ node: 0, cpus: [0, 1] }, { node: 1, cpus: [2, 3] }];
  const memory = (node: number, bytes: number): Span => ({
    type: "counter",
    track: { id: 900 + node, kind: "counter", name: `resident on node ${node}`, pid: 100, unit: "bytes" },
    at: 5,
    value: bytes,
  });
  const found = (spans: readonly Span[]) => {
    const result = schedResultSchema.parse(analyse(sched(4, nodes), [shut(0, true), ...spans, shut(1000, false)]));
    const notes = presentSched(result).flatMap((view) => view.type === "note" && view.command !== undefined ? [`${view.text} ${view.command}`] : []);
    return { numa: result.numa, notes };
  };
  const away = found([
    memory(0, 90 << 20),
    memory(1, 10 << 20),
    off(main, "lock", 100, 150, { from: 2, cpu: 3, migrated: true }),
    off(main, "lock", 500, 600, { from: 3, cpu: 3 }),
    off(worker, "lock", 700, 1000, { from: 1, cpu: 2, migrated: true }),
  ]);
  assert.equal(away.numa!.migrations, 1, "the other one was from one processor of a node to another");
  // From 150 to 500 and from 600 on; before the first time it was not seen.
  assert.deepEqual(away.numa!.nodes, [
    { node: 0, onNs: 0, memoryBytes: 90 << 20, processors: 2 },
    { node: 1, onNs: 750 * MS, memoryBytes: 10 << 20, processors: 2 },
  ]);
  assert.ok(Math.abs(away.numa!.remote - 0.9) < 1e-9);
  assert.match(away.notes[0]!, /^90 % of what threads touch .* runs on node 1, .* in node 0\..* numactl --cpunodebind=0 --membind=0 program args…$/);

  const both = [off(main, "lock", 100, 150, { from: 0, cpu: 0 }), off(worker, "lock", 100, 150, { from: 2, cpu: 2 })];
  const spread = found([memory(0, 100 << 20), memory(1, 0), ...both]);
  assert.equal(spread.numa!.remote, 0.5);
  assert.match(spread.notes[0]!, /runs on 2 nodes.* numactl --interleave=all program args…$/);
  // Half is elsewhere, and nothing is better where both nodes compute.
  assert.deepEqual(found([memory(0, 50 << 20), memory(1, 50 << 20), ...both]).notes, []);
  assert.deepEqual(found([memory(1, 50 << 20), off(main, "lock", 100, 150, { from: 2, cpu: 3 })]).notes, []);
  assert.equal(found(both).numa, null);
  // Memory that no processor is near to is as far from all of them.
  nodes.push({ node: 2, cpus: [] });
  const far = found([memory(0, 20 << 20), memory(2, 80 << 20), off(main, "lock", 100, 150, { from: 0, cpu: 1 })]);
  assert.deepEqual([far.numa!.remote, far.notes, far.numa!.nodes[2]!.memoryBytes], [0, [], 80 << 20]);
});

Deno.test("sched: what a thread ran between short times off is of the processor on which it did", () => {
  const nodes: Node[] = [{ node: 0, cpus: [0, 1] }, { node: 1, cpus: [2, 3] }];
  const on = (...more: readonly Span[]) => {
    const memory = { type: "counter", track: main.tracks.counter(100, "resident on node 0", "bytes"), at: 5, value: 1 << 20 } as const;
    const spans = [shut(0, true), memory, off(main, "pipe", 0, 1), ...more, shut(1002, false)];
    const { numa, threads } = analyse(sched(4, nodes), spans);
    assert.equal(numa!.nodes.reduce((sum, { onNs }) => sum + onNs, 0), threads[0]!.onNs);
    return [...numa!.nodes.map(({ onNs }) => onNs / MS), numa!.remote];
  };
  const here = run(100, 1, 900, 450 * MS, { from: 0, cpu: 0 }), there = run(10, 900, 1001, 50 * MS, { from: 0, cpu: 2, migrated: true });
  const last = off(main, "pipe", 1001, 1002, { from: 2, cpu: 2 });
  assert.deepEqual(on(here, there, last), [449, 51, 51 / 500]);
  // As when the window is shut, after a single time off, or beside another run.
  assert.deepEqual(on(here, last, there), [449, 51, 51 / 500]);
  assert.deepEqual(on(here, run(10, 200, 800, 50 * MS), there, last), [399, 51, 51 / 450]);
});

Deno.test("sched: on which processors a thread may run, as it was told last until its end; of one that nobody looked at, as of its process's first thread", () => {
  const allowed = (at: number, affinity: string, ...threads: Affinity["threads"]): Span => (
    {
      type: "instant",
      track: main.tracks.thread(100, 100),
      name: "",
      category: "sched.affinity",
      at: at * MS,
      affinity: { pid: 100, affinity, threads },
    }
  );
  const found = (more: readonly Span[]) =>
    result([
      shut(0, true),
      allowed(1, "0-1", { tid: 102, affinity: "0" }, { tid: 103, affinity: "1" }),
      ...[main, worker, main.of(100, 102), main.of(100, 103), main.of(200)].map((of) => off(of, "lock", 10, 20)),
      // Who has ended is in no list any more.
      { ...main.of(100, 103).exit(25), category: "thread.exit" },
      allowed(30, "0-3", { tid: 101, affinity: "3" }),
      ...more,
      shut(100, false),
    ]).threads.toSorted((a, b) => a.tid - b.tid).map(({ tid, affinity }) => [tid, affinity]);
  assert.deepEqual(found([]), [[100, "0-3"], [101, "3"], [102, "0-3"], [103, "1"], [200, null]]);
  assert.deepEqual(found([off(main.of(100, 103), "new", 40, 41)])[3], [103, "0-3"], "another thread has its number");
});

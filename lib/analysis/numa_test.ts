import assert from "node:assert/strict";
import type { Counter } from "../events/span.ts";
import { numaNotes } from "./numa_present.ts";
import { Surroundings } from "./surroundings.ts";

const GB = 1e9;
const on = (node: number, pid: number, at: number, value: number): Counter => (
  { type: "counter", track: { id: 10 * pid + node, kind: "counter", name: `resident on node ${node}`, pid, unit: "bytes" }, at, value }
);

function byNode(...counters: readonly Counter[]): [node: number, bytes: number][] {
  const surroundings = new Surroundings();
  for (const counter of counters) surroundings.counter(counter);
  return [...surroundings.byNode];
}

Deno.test("numa: memory is that of one look at all processes, none of which has ended", () => {
  const converts = [on(0, 100, 1, 60 * GB), on(0, 100, 2, 60 * GB)];
  assert.deepEqual(byNode(...converts, on(0, 200, 12, 1 * GB), on(1, 200, 12, 39 * GB)), [[0, 1 * GB], [1, 39 * GB]]);
  // Both are there.
  assert.deepEqual(byNode(...converts, on(0, 100, 3, 60 * GB), on(1, 200, 3, 40 * GB)), [[0, 60 * GB], [1, 40 * GB]]);
  // It is about to end.
  assert.deepEqual(byNode(...converts, on(0, 100, 3, 7 * GB), on(1, 100, 3, 0)), [[0, 60 * GB]]);
});

Deno.test("numa: threads of which a part runs beside its memory are not told to move where both are", () => {
  const node = (node: number, onNs: number, mebibytes: number) => ({ node, onNs, memoryBytes: mebibytes << 20, processors: 2 });
  const [note] = numaNotes({ nodes: [node(0, 82, 85), node(1, 18, 15)], remote: 0.28, migrations: 0 });
  assert.match(note!.text, /it runs on 2 nodes, and its 100\.0 MiB are in node 0\./);
  assert.equal(note!.command, "numactl --interleave=all program args…");
});

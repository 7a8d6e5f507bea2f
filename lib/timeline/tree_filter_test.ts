import assert from "node:assert/strict";
import { TreeFilter } from "./tree_filter.ts";

Deno.test("tree filter: those of a tree and what they fork, and theirs; threads are no processes", () => {
  const filter = new TreeFilter([100]);
  const accepts = (pid: number, record = "p.x", ...values: number[]) => filter.accepts({ at: 0, stream: "s", record, pid, tid: pid, values });
  assert.ok(accepts(100));
  assert.ok(!accepts(200));
  assert.ok(accepts(100, "process/life.task", 200, 0));
  assert.ok(accepts(100, "process/life.task", 300, 1));
  assert.ok(accepts(200, "process/life.task", 400, 0));
  assert.ok(!accepts(500, "process/life.task", 600, 0));
  assert.deepEqual([200, 300, 400, 500, 600].filter((pid) => accepts(pid)), [200, 400]);
});

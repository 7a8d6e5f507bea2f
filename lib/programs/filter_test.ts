import assert from "node:assert/strict";
import { filterBegin, filterBlocks, filterPredicate, filterTold } from "./filter.ts";

Deno.test("filter: a tree begins with what is there and follows forks, but no threads", () => {
  const filter = { type: "tree", pids: [7, 8] } as const;
  assert.equal(filterBegin(filter), "@tree[(uint32)7] = 1; @tree[(uint32)8] = 1;");
  const [block, ...rest] = filterBlocks(filter);
  assert.deepEqual(rest, []);
  assert.match(block!, /^tracepoint:task:task_newtask .*0x10000\) == 0.*@tree\[\$child\] = 1/);
  assert.equal(filterPredicate(filter), "@w && @tree[pid]");
});

Deno.test("filter: a tree can be told of members, by who has announced itself to the bpftrace", () => {
  const { ours, others } = filterTold({ type: "tree", pids: [7] });
  assert.match(ours.join(), /^if \(\$signal == 17\) \{ @teller = /);
  assert.match(others.join(), /^if \(\$signal == 0 && @teller == \(uint32\)pid\) \{ @tree\[\(uint32\)\$to\] = 1; \}/);
  assert.deepEqual(filterTold({ type: "processes", pids: [7] }), { ours: [], others: [] });
});

Deno.test("filter: everybody is whoever runs, but for a processor that is idle", () => {
  const filter = { type: "everybody", pids: [1, 2, 7] } as const;
  assert.deepEqual([filterBegin(filter), filterBlocks(filter), filterPredicate(filter)], ["", [], "@w && pid != 0"]);
});

Deno.test("filter: processes that were named have no children", () => {
  const filter = { type: "processes", pids: [7] } as const;
  assert.deepEqual([filterBlocks(filter), filterPredicate(filter)], [[], "@w && @tree[pid]"]);
});

Deno.test("filter: new is what its leader's start says, so that a thread of an old process is not new", () => {
  const filter = { type: "new" } as const;
  assert.deepEqual([filterBegin(filter), filterBegin({ ...filter, since: 5n })], ["@start = nsecs;", "@start = (uint64)5;"]);
  assert.match(filterPredicate(filter), /group_leader->start_boottime > @start/);
  assert.deepEqual(filterBlocks(filter), []);
});

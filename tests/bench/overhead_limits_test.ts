import assert from "node:assert/strict";
import type { ShapeName } from "../workloads/shapes.ts";
import { exitOf } from "./exit_of.ts";
import type { ModeName } from "./overhead.ts";
import { limits } from "./overhead_limits.ts";

/** Of medians: what is said, and with what the script ends. The control's interval is from 0.01 below it to as much above. */
function told(medians: Partial<Record<ModeName, number>>, model: ShapeName = "billion") {
  const ratios = Object.entries(medians).map(([name, median]) =>
    [name as ModeName, { median, low: median - 0.01, high: median + 0.01, count: 60 }] as const
  );
  let lines: string[] = [];
  const exit = exitOf(() => lines = limits(new Map(ratios), model));
  return { exit, missed: lines.filter((line) => line.endsWith("MISSED")).map((line) => line.split(" ")[0]), count: lines.length };
}

const met = (count: number) => ({ exit: 0, missed: [], count });
const missed = (name: ModeName, count = 1) => ({ exit: 1, missed: [name], count });

Deno.test("overhead: each detail has its limit, and one beyond it ends the script with 1", () => {
  const most = { timeline: 1.015, sum: 1.015, graph: 1.003, sample: 1.005, token: 1.003, held: 1.02 } as const;
  assert.deepEqual(told(most), met(6));
  for (const [name, limit] of Object.entries(most) as [keyof typeof most, number][]) {
    assert.deepEqual(told({ [name]: limit }), met(1), name);
    assert.deepEqual(told({ [name]: limit + 0.0001 }), missed(name), name);
    assert.deepEqual(told({ ...most, [name]: 1.05 }), missed(name, 6), name);
  }
  assert.deepEqual(told({ sum: 1.017 }), missed("sum"));
});

Deno.test("overhead: what looks at no operator may be what nothing at all may; what looks at every one may not", () => {
  assert.deepEqual(told({ control: 1.001, token: 1.0109, graph: 1.0109, sample: 1.0109 }), met(3));
  assert.deepEqual(told({ control: 1.001, graph: 1.0111 }), missed("graph"));
  assert.deepEqual(told({ control: 0.98, sample: 1.005 }), met(1));
  assert.deepEqual(told({ control: 1.01, sum: 1.017 }), missed("sum"));
});

Deno.test("overhead: sums and the timeline are set against counting, of any model", () => {
  for (const name of ["timeline", "sum"] as const) {
    assert.deepEqual(told({ counting: 1.01, [name]: 1.0149 }), met(2));
    assert.deepEqual(told({ counting: 1.009, [name]: 1.0149 }), missed(name, 2));
    assert.deepEqual(told({ counting: 1.03, [name]: 1.0349 }, "small"), met(2));
    assert.deepEqual(told({ counting: 1.02, [name]: 1.0349 }, "small"), missed(name, 2));
    assert.deepEqual(told({ counting: 1.04, [name]: 1.0401 }, "small"), missed(name, 2));
  }
});

Deno.test("overhead: turns have their share of the timeline, where that was measured", () => {
  assert.deepEqual(told({ turns: 1.5 }), met(0));
  assert.deepEqual(told({ timeline: 1.012, turns: 1.003 }), met(2));
  assert.deepEqual(told({ timeline: 1.012, turns: 1.0031 }), missed("turns", 2));
});

import assert from "node:assert/strict";
import { TestSpans } from "../../tests/harness/spans.ts";
import type { Counter } from "../events/span.ts";
import { Surroundings } from "./surroundings.ts";

Deno.test("surroundings: what processes have together is the most of one look, and each by itself the most it ever had", () => {
  const first = new TestSpans(), second = first.of(200);
  const surroundings = new Surroundings();
  const look = (at: number, ...amounts: readonly (readonly [who: TestSpans, name: string, bytes: number])[]): Counter[] =>
    [[first, "available memory", 900 - at] as const, ...amounts].map(([who, name, bytes]) => who.counter(name, at, bytes));
  const counters = [
    ...look(1, [first, "resident", 70], [first, "locked", 5], [second, "resident", 10], [second, "swapped out", 3]),
    ...look(2, [first, "resident", 30], [first, "locked", 6], [second, "resident", 60], [second, "locked", 2]),
    ...look(3, [second, "resident", 80], [second, "swapped out", 1]),
  ];
  for (const counter of counters) surroundings.counter(counter);
  assert.deepEqual(surroundings.result().memory, {
    processes: [
      { pid: 200, residentBytes: 80, lockedBytes: 2, swappedBytes: 3 },
      { pid: 100, residentBytes: 70, lockedBytes: 6, swappedBytes: 0 },
    ],
    residentBytes: 90,
    lockedBytes: 8,
    swappedBytes: 3,
    leastAvailableBytes: 897,
    swappedInPages: 0,
    swappedOutPages: 0,
  });
});

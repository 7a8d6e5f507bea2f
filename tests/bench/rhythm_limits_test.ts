import assert from "node:assert/strict";
import { exitOf } from "./exit_of.ts";
import { besideBest, bestOf } from "./rhythm_limits.ts";

Deno.test("rates: the best other is the one with the least median of those that lost next to nothing", () => {
  const windows = (rhythm: string | number, ns: readonly number[], lost = 0) => ({ rhythm, ns, calls: 1000, lost });
  const always = windows("always", [900, 950, 2000]);
  assert.deepEqual(bestOf([always, windows(20, [100, 990, 995]), windows(500, [400, 500, 600], 11)]), { rhythm: "always", ns: 950 });
  assert.deepEqual(bestOf([always, windows(500, [400, 500, 600], 10)]), { rhythm: 500, ns: 500 });
  assert.equal(bestOf([windows(500, [400], 11)]), undefined);
});

Deno.test("rates: an event costs at most 1.3 times what it does with the best other, or 0.2 µs more; rotating maps a third of printing", () => {
  const exit = (own: number, best: number, isRing = true) => exitOf(() => besideBest(own, { rhythm: 500, ns: best }, isRing));
  assert.deepEqual([exit(1300, 1000), exit(1301, 1000), exit(800, 600), exit(801, 600), exit(500, 600)], [0, 1, 0, 1, 0]);
  assert.deepEqual([exit(1000, 3000, false), exit(1001, 3000, false)], [0, 1]);
  assert.equal(exitOf(() => besideBest(9000, undefined, true)), 0, "nothing to judge by");
});

import assert from "node:assert/strict";
import type { Summary } from "../analysis/summary.ts";
import { tellOutcome } from "./outcome.ts";
import type { Context } from "./terminal.ts";

Deno.test("outcome: the overhead that was predicted says which layers are not in it", () => {
  let said = "";
  const context = { terminal: { err: (text: string) => said += text } } as unknown as Context;
  const summary = {
    events: { emitted: 1, received: 1, lost: 0, undecodable: 0 },
    overhead: { predicted: 0.0123, measured: null, calibrated: true, unpriced: ["io", "sched"] },
  } as unknown as Summary<unknown>;
  assert.equal(tellOutcome({ summary, views: [], written: [] }, { quiet: false }, context), 0);
  assert.equal(said, "Overhead: predicted 1.2 % without io and sched, not measured.\n");
});

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

Deno.test("outcome: what was lost, and what helps: a larger buffer, and where the command has them, sums", () => {
  const saidOf = (sums: boolean) => {
    let said = "";
    const context = { terminal: { err: (text: string) => said += text } } as unknown as Context;
    const summary = { events: { emitted: 10, received: 7, lost: 3, undecodable: 0 }, overhead: { predicted: null } } as unknown as Summary<unknown>;
    const live = { bufferPages: 64, sums, cheaper: () => "" };
    assert.equal(tellOutcome({ summary, views: [], written: [] }, { quiet: false }, context, live), 0);
    return said;
  };
  const lost = "Warning: 3 of 10 events were lost. A larger buffer helps: --buffer-pages 256\n";
  assert.equal(saidOf(false), lost);
  assert.equal(saidOf(true), `${lost}Where so many come all the time, sums of them lose none: --snapshots FILE\n`);
});

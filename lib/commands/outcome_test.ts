import assert from "node:assert/strict";
import type { Summary } from "../analysis/summary.ts";
import { parsePages } from "./cli/parse.ts";
import { type LiveRun, type OutcomeOptions, tellOutcome } from "./outcome.ts";
import type { Context } from "./terminal.ts";

Deno.test("outcome: the overhead that was predicted says which layers are not in it", () => {
  let said = "";
  const context = { terminal: { err: (text: string) => said += text } } as unknown as Context;
  const summary = {
    events: { emitted: 1, received: 1, lost: 0, undecodable: 0 },
    overhead: { predicted: 0.0123, measured: null, calibrated: true, unpriced: ["io", "sched"] },
  } as unknown as Summary<unknown>;
  const written = [{ path: "/tmp/a.json", shown: "a.json", format: "json", opensWith: "ui.perfetto.dev" }];
  assert.equal(tellOutcome({ summary, views: [], written }, { quiet: false }, context), 0);
  const wrote = "Wrote a.json: open it with ui.perfetto.dev\n";
  assert.equal(said, `Overhead: predicted 1.2 % without io and sched, not measured.\n${wrote}`);
  said = "";
  tellOutcome({ summary, views: [], written }, { quiet: true }, context);
  assert.equal(said, wrote, "--quiet: what was written, and no more");
  said = "";
  tellOutcome({ summary, views: [], written: [{ ...written[0]!, empty: "Nothing was seen." }] }, { quiet: true }, context);
  assert.equal(said, "Wrote a.json: open it with ui.perfetto.dev. Nothing was seen.\n");
});

/** What is said of a run in which so much was counted, and the exit code. */
function told(events: Partial<Summary<unknown>["events"]>, options: Partial<OutcomeOptions> = {}, live: Partial<LiveRun> = {}) {
  let err = "", out = "";
  const context = { terminal: { err: (text: string) => err += text, out: (text: string) => out += text } } as unknown as Context;
  const counts = { emitted: 0, received: 0, lost: 0, undecodable: 0, ...events };
  const summary = { events: counts, overhead: { predicted: null } } as unknown as Summary<unknown>;
  const run = { bufferPages: 64, sums: false, cheaper: () => "", ...live };
  const views = [{ type: "note", level: "info", text: "a view" }] as const;
  const code = tellOutcome({ summary, views, written: [] }, { quiet: false, ...options }, context, run);
  return { code, err, out };
}

Deno.test("outcome: what was lost, and what to try: a larger buffer, and where the command has them, sums", () => {
  const three = { emitted: 10, received: 7, lost: 3 };
  const lost = "Warning: 3 of 10 events were lost. Try a larger buffer: --buffer-pages 256\n";
  for (const quiet of [false, true]) assert.deepEqual(told(three, { quiet }), { code: 0, err: lost, out: "" });
  assert.equal(told(three, {}, { sums: true }).err, `${lost}Where so many come all the time, sums of them lose none: --snapshots FILE\n`);
});

Deno.test("outcome: where nobody reads the summary of a live run any more, it is said once how to have it", () => {
  let err = "";
  const context = { terminal: { err: (text: string) => err += text, out: (_: string, onUnread?: () => void) => onUnread?.() } } as unknown as Context;
  const summary = { events: { emitted: 1, received: 1, lost: 0, undecodable: 0 }, overhead: { predicted: null } } as unknown as Summary<unknown>;
  const live = { bufferPages: 64, sums: false, cheaper: () => "" };
  for (const kind of ["text", "json"] as const) {
    err = "";
    tellOutcome({ summary, views: [], written: [] }, { quiet: true, summary: kind }, context, live);
    assert.match(err, /^Whoever read the summary has ended\.\n.*--duration 10s.*--from run\.llmprof\n$/);
    err = "";
    tellOutcome({ summary, views: [], written: [] }, { quiet: true, summary: kind }, context);
    assert.equal(err, "", "a recording can be asked again");
  }
});

Deno.test("outcome: the buffer to try is one that --buffer-pages takes", () => {
  const tried = (bufferPages: number) => told({ emitted: 10, received: 7, lost: 3 }, { maxLoss: 0 }, { bufferPages });
  assert.match(
    tried(524_288).err,
    /^Warning: .*Try a larger buffer: --buffer-pages 1048576\nMore .* allows\.\nTry a larger buffer: --buffer-pages 1048576\n$/,
  );
  assert.equal(parsePages("1048576"), 1_048_576);
  assert.match(tried(1_048_576).err, /^Warning: .* lost\. No buffer is larger.*\nMore .* allows\.\nNo buffer is larger/);
});

Deno.test("outcome: --max-loss says of what the kernel skipped that no buffer helps, and of what no buffer held that a larger one does", () => {
  const limited = (events: Partial<Summary<unknown>["events"]>) => told(events, { maxLoss: 2 });
  const more = (lost: number) => `More events were lost (${lost}) than --max-loss 2 allows.\n`;
  const skipped = "The kernel skipped 3 hits of them, because another program ran on that processor: no buffer helps there.\n";
  const larger = "Try a larger buffer: --buffer-pages 256\n";
  const only = {
    code: 4,
    err: `Warning: the kernel skipped 3 hits of the machine's: as many events may be missing from 10.\n${more(3)}${skipped}`,
    out: "",
  };
  assert.deepEqual(limited({ emitted: 10, received: 7, lost: 3, skipped: 3 }), only);
  const both = "Warning: 4 of 10 events were lost. Try a larger buffer: --buffer-pages 256\n";
  assert.equal(limited({ emitted: 10, received: 6, lost: 4, skipped: 3 }).err, both + more(4) + larger + skipped);
  assert.equal(limited({ emitted: 10, received: 6, lost: 4, skipped: 2 }).err, both + more(4) + larger);
});

Deno.test("outcome: a run of which nothing arrived saw nothing only if nothing was lost and all was understood", () => {
  const summary = { summary: "text" } as const;
  const nothing = "Note: no event was seen. The target did nothing that these probes look at while they counted.\n";
  for (const quiet of [false, true]) assert.deepEqual(told({}, { ...summary, quiet }), { code: 0, err: nothing, out: "" });
  assert.match(told({ emitted: 2, lost: 2, skipped: 2 }, summary).err, /^Note: no event was seen\..*\nWarning: the kernel skipped 2 hits/);
  for (const events of [{ emitted: 9, lost: 9 }, { undecodable: 4 }]) {
    const { err, out } = told(events, summary);
    assert.match(err, /^Warning: (9 of 9 events were lost|4 lines not understood)\./);
    assert.match(out, /a view/);
  }
});

import assert from "node:assert/strict";
import { render } from "../../lib/programs/render.ts";
import { kernelPart } from "../../lib/session/program_part.ts";
import { Decoding } from "../../tests/harness/decoding.ts";
import { recentDialect } from "../../tests/harness/dialect.ts";
import { blockTotals } from "../block/totals.ts";
import { schedTotals } from "./totals.ts";

const NONE = 3;

Deno.test("totals: where the kernel has no tracepoint of page faults, as on aarch64, they are counted otherwise, and times off as everywhere", () => {
  const { probes } = kernelPart([schedTotals(1000)], { tracepoints: new Set(["sched:sched_switch", "sched:sched_process_exit"]) }, assert.fail);
  const texts = [true, false].map((hasFaults) => {
    const dialect = {
      ...recentDialect,
      arch: "aarch64",
      hasTracepoint: (name: string) => hasFaults || name !== "exceptions:page_fault_user",
    } as const;
    return render({ stream: "process", probes, filter: { type: "tree", pids: [42] }, window: "signalled" }, dialect, () => []).text;
  });
  const counting = /^(tracepoint:exceptions|software):.*\{[^]*?@faulted_2\[pid\] = count\(\)/gm;
  assert.deepEqual(texts.map((text) => [...text.matchAll(counting)].map(([, kind]) => kind)), [["tracepoint:exceptions"], ["software"]]);
  for (const text of texts) assert.match(text, /^tracepoint:sched:sched_switch \{/m);
});

Deno.test("totals: each interval has what its maps grew by, also where another one took its place and one was emptied", () => {
  const d = new Decoding(schedTotals(1000));
  const told = () => {
    const [totals] = d.spans.splice(0).flatMap((span) => span.type === "instant" ? span.totals ?? [] : []);
    return [Object.fromEntries(totals!.offCpuNs!), Object.fromEntries(totals!.pageFaults!)];
  };
  const tick = (at: number, emptied: number, ...sums: readonly (readonly [map: string, pid: number, value: number])[]) => {
    for (const [map, pid, value] of sums) d.snapshot(at, `sched/totals.${map}`, [pid], value);
    d.event(at, "sched/totals.tick", { emptied });
    return told();
  };
  assert.deepEqual(tick(1, NONE, ["off_0", 100, 50], ["faulted_0", 100, 3]), [{ 100: 50 }, { 100: 3 }]);
  assert.deepEqual(tick(2, 2, ["off_0", 100, 60], ["faulted_0", 100, 3]), [{ 100: 10 }, {}]);
  assert.deepEqual(tick(3, NONE, ["off_1", 100, 7], ["off_1", 200, 1]), [{ 100: 7, 200: 1 }, {}]);
  // The first one is emptied while the second is in use, and comes again after the third.
  assert.deepEqual(tick(4, 0, ["off_1", 100, 8], ["off_1", 200, 1]), [{ 100: 1 }, {}]);
  assert.deepEqual(tick(5, 1, ["off_2", 300, 5]), [{ 300: 5 }, {}]);
  assert.deepEqual(tick(6, NONE, ["off_0", 100, 60]), [{ 100: 60 }, {}]);
  // When counting ends all are read once more.
  d.snapshot(7, "sched/totals.off_0", [100], 65);
  d.snapshot(7, "sched/totals.off_2", [300], 6);
  const last = d.ending(7).flatMap((span) => span.type === "instant" && span.totals ? [Object.fromEntries(span.totals.offCpuNs!)] : []);
  assert.deepEqual(last, [{ 100: 5, 300: 1 }]);
});

Deno.test("totals: a process has the name that it was found with, or ended with, as long as it is told of", () => {
  const d = new Decoding(schedTotals(1000));
  const told = (at: number, ...sums: readonly (readonly [pid: number, value: number])[]) => {
    for (const [pid, value] of sums) d.snapshot(at, "sched/totals.off_0", [pid], value);
    d.event(at, "sched/totals.tick", { emptied: NONE });
    return d.spans.splice(0).flatMap((span) => span.type === "instant" && span.totals ? [Object.fromEntries(span.totals.processNames!)] : []);
  };
  d.fact(1, { fact: "names", pid: 100, name: "sh", threads: [] });
  d.fact(1, { fact: "names", pid: 400, name: "idle", threads: [] });
  assert.deepEqual(told(2, [100, 5], [200, 1], [300, 1]), [{ 100: "sh" }]);
  d.event(3, "sched/totals.ended", { name: "true" }, "200/200");
  d.event(3, "sched/totals.ended", { name: "node" }, "100/100");
  assert.deepEqual(told(4, [100, 6], [200, 2], [300, 2]), [{ 100: "node", 200: "true" }]);
  // Whoever has the number now is another.
  assert.deepEqual(told(5, [100, 9]), [{}]);
});

Deno.test("totals: each interval knows how the wall clock was set until then", () => {
  const ticks = [[schedTotals, "sched/totals.tick", { emptied: NONE }], [blockTotals, "block/totals.tick", { exact: 1 }]] as const;
  for (const [probe, record, values] of ticks) {
    const d = new Decoding(probe(1000));
    const shift = (at: number) => {
      d.event(at, record, values);
      return d.spans.splice(0).flatMap((span) => span.type === "instant" ? span.totals?.wallShiftMs : []);
    };
    const before = shift(1);
    d.fact(2, { fact: "wallClock", shiftMs: 3_600_000 });
    assert.deepEqual([before, shift(3)], [[0], [3_600_000]]);
  }
});

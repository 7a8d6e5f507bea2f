/**
 * Every bpftrace that is here: is what it delivers exact, and what does it cost? Counts are repeated, costs measured on the model of 113 MB with one
 * thread. The table at the end is the README's. Ends with 1 when a count was not exact.
 *
 *     deno run -A tests/kernel/matrix.ts [--runs 5] [--pairs 12]
 */
import { parseArgs } from "node:util";
import { measureOverhead, type Overhead } from "../bench/overhead.ts";
import { middle } from "../bench/statistics.ts";
import { bpftraces } from "../harness/bpftraces.ts";
import { countedRows } from "./counted_rows.ts";

const { values } = parseArgs({ options: { runs: { type: "string", default: "5" }, pairs: { type: "string", default: "12" } } });
const runs = Number(values.runs);

interface Row {
  readonly name: string;
  readonly site: string;
  readonly transport: string;
  readonly exact: number;
  readonly counted: number;
  /** Median of the runs in which the engine was started, and stood at its gates. */
  readonly stoppedMs: number;
  readonly overhead: Overhead;
}

const rows: Row[] = [];
for (const bpftrace of bpftraces()) {
  let [exact, counted, site, transport] = [0, 0, "", ""];
  const stops: number[] = [];
  for await (const row of countedRows(bpftrace, runs)) {
    console.log([row.exact ? " " : "!", ...row.cells].join("  "));
    counted++;
    if (row.exact) exact++;
    const ops = row.summary.probes.find(({ name, site }) => name === "ggml/ops" && site.includes("compute_forward"));
    if (ops && row.stoppedMs > 0) stops.push(row.stoppedMs);
    if (ops) [site, transport] = [`${/\+\d+$/.exec(ops.site)?.[0] ?? "+0"}, ${ops.cost}`, row.transport];
  }
  const windows = { model: "small", threads: 1, pairs: Number(values.pairs), control: 0, windowMs: 1500 } as const;
  const overhead = await measureOverhead(bpftrace, ["timeline"], windows);
  rows.push({ name: bpftrace.name, site, transport, exact, counted, stoppedMs: middle(stops).median, overhead });
}

console.log("\n| bpftrace | site | transport | exact runs | the engine stands | an operator's event costs | CPU time per token |");
console.log("| --- | --- | --- | --- | --- | --- | --- |");
for (const { name, site, transport, exact, counted, stoppedMs, overhead } of rows) {
  const { median, low, high } = overhead.ratios.get("timeline")!;
  const cost = `${overhead.microsecondsPerOperator.toFixed(1)} µs`;
  const ratio = `× ${median.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`;
  console.log(`| ${[name, site, transport, `${exact} of ${counted}`, `${stoppedMs.toFixed(0)} ms`, cost, ratio].join(" | ")} |`);
}
if (rows.some(({ exact, counted }) => exact < counted)) Deno.exit(1);

/**
 * The overhead that llmprof predicts beside the one that is measured, in windows inside one running engine, each between two in which nothing is
 * attached: behind `endbr64`, and on it with the same bpftrace, which does not find what llmprof names.
 *
 *     deno run -A tests/bench/prediction.ts [--model small] [--pairs 12] [--window 3000] [--bpftrace 0.23]
 *
 * What a hit costs is measured anew first. A prediction is right when it is off by no more than one point, or a fifth of what was measured.
 */
import { parseArgs } from "node:util";
import { bpftraces } from "../harness/bpftraces.ts";
import { mustRun } from "../harness/command.ts";
import { deafBpftrace } from "../harness/deaf_bpftrace.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import { type ShapeName, shapes } from "../workloads/shapes.ts";
import { tracing } from "./modes.ts";
import { middle } from "./statistics.ts";
import { comparedWindows, type Pair } from "./windows.ts";

const { values } = parseArgs({
  options: {
    model: { type: "string", default: "small" },
    pairs: { type: "string", default: "12" },
    window: { type: "string", default: "3000" },
    bpftrace: { type: "string" },
  },
});
if (!Object.hasOwn(shapes, values.model)) throw new Error(`No model is called ${values.model}. There are: ${Object.keys(shapes).join(", ")}.`);
using folder = temporary();
for (const { name, path } of bpftraces().filter(({ name }) => values.bpftrace === undefined || name === values.bpftrace)) {
  const variants = [["behind endbr64", path], ["on endbr64", deafBpftrace(path, folder)]] as const;
  for (const [where, bpftrace] of variants) {
    const calibrated = await mustRun([...llmprof, "doctor", "--calibrate", "--bpftrace", bpftrace], { timeoutMilliseconds: 60_000 });
    const predicted: number[] = [], pairs: Pair[] = [], sites = new Set<string>();
    const options = { model: values.model as ShapeName, threads: 1, windowMs: Number(values.window) };
    const mode = tracing(where, bpftrace, Number(values.pairs), null, ({ overhead, probes }) => {
      if (overhead.predicted !== null) predicted.push(overhead.predicted);
      for (const { name, site, cost } of probes) if (name === "ggml/ops") sites.add(`${site} (${cost})`);
    });
    await comparedWindows([mode], options, (more) => void pairs.push(...more));
    const measured = middle(pairs.map(({ ratio }) => (ratio - 1) * 100));
    const foretold = middle(predicted.map((fraction) => fraction * 100));
    const off = Math.abs(foretold.median - measured.median);
    const isRight = off <= Math.max(1, measured.median / 5);
    console.log(`bpftrace ${name}, ${where}: ${[...sites].join(", ")}`);
    console.log(`  ${/A hit with.*/.exec(calibrated.stderr)?.[0] ?? ""}`);
    console.log(
      `  predicted ${foretold.median.toFixed(2)} %, measured ${measured.median.toFixed(2)} % (95 %: ${measured.low.toFixed(2)} to ${
        measured.high.toFixed(2)
      }, ${measured.count} windows): off by ${off.toFixed(2)} points, ${isRight ? "right" : "WRONG"}`,
    );
  }
}

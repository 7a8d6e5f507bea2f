/**
 * The overhead that llmprof predicts beside the one that is measured, in windows inside one running engine, each between two in which nothing is
 * attached: behind `endbr64`, and on it with the same bpftrace, which does not find what llmprof names.
 *
 *     deno run -A tests/bench/prediction.ts [--model small] [--pairs 16] [--window 3000] [--bpftrace 0.23]
 *
 * Windows with either site in random order. What a hit costs is measured anew before each engine, which is replaced after a few: on a shared machine it
 * depends on what neighbours do to the caches, from one minute to the next, and what is asked here is whether a prediction holds in the same weather.
 * So each window's prediction is compared with what was measured in that window. It is right when it is off, in the middle, by no more than one point,
 * or a fifth of what was measured. A user calibrates once for as long as the machine runs: what the first calibration would have predicted of all windows is
 * judged likewise. Ends with 1 where one is not right.
 */
import { parseArgs } from "node:util";
import { readCalibration } from "../../lib/commands/calibrated.ts";
import { readMeans } from "../../lib/commands/means.ts";
import type { Calibration } from "../../lib/machine/calibration.ts";
import { chosenBpftraces } from "../harness/bpftraces.ts";
import { mustRun } from "../harness/command.ts";
import { deafBpftrace } from "../harness/deaf_bpftrace.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import { type ShapeName, shapes } from "../workloads/shapes.ts";
import { tracing } from "./modes.ts";
import { judged } from "./judged.ts";
import { predictedWith } from "./kept_calibration.ts";
import { differences, type Middle, middle } from "./statistics.ts";
import { comparedWindows, type Mode } from "./windows.ts";

const { values } = parseArgs({
  options: {
    model: { type: "string", default: "small" },
    pairs: { type: "string", default: "16" },
    window: { type: "string", default: "3000" },
    bpftrace: { type: "string" },
  },
});
if (!Object.hasOwn(shapes, values.model)) throw new Error(`No model is called ${values.model}. There are: ${Object.keys(shapes).join(", ")}.`);
using folder = temporary();
for (const { name, path } of chosenBpftraces(values.bpftrace)) {
  const variants = [variant("behind endbr64", path), variant("on endbr64", deafBpftrace(path, folder))];
  const options = { model: values.model as ShapeName, threads: 1, windowMs: Number(values.window), pairsOfAnEngine: 6 };
  const measure = async () => {
    for (const { bpftrace, hits, calibrations } of variants) {
      hits.push(await calibrated(bpftrace));
      calibrations.push(await readCalibration(await readMeans(bpftrace), 0, "kept", () => {}, Promise.resolve()));
    }
  };
  await comparedWindows(variants.map(({ mode }) => mode), options, (pairs) => {
    for (const { where, measured } of variants) measured.push(...pairs.filter(({ mode }) => mode === where).map(({ ratio }) => (ratio - 1) * 100));
    console.error(`bpftrace ${name}: ${variants.reduce((sum, { measured }) => sum + measured.length, 0)} windows of ${2 * Number(values.pairs)}`);
  }, measure);
  for (const each of variants) report(name, each);
}

/** A site, and what is collected of it. */
interface Variant {
  readonly where: string;
  readonly bpftrace: string;
  readonly mode: Mode;
  /** As the sentence of `--calibrate` says it. */
  readonly hits: string[];
  readonly calibrations: Calibration[];
  /** Percent, of each window. */
  readonly predicted: number[];
  /** With the first calibration. */
  readonly kept: number[];
  readonly measured: number[];
  readonly sites: Set<string>;
}

function variant(where: string, bpftrace: string): Variant {
  const predicted: number[] = [], kept: number[] = [], calibrations: Calibration[] = [], sites = new Set<string>();
  const mode = tracing(where, bpftrace, Number(values.pairs), null, ({ overhead, probes }) => {
    const withFirst = predictedWith(calibrations[0]!, calibrations.at(-1)!, { overhead, probes });
    if (overhead.predicted !== null) predicted.push(overhead.predicted * 100);
    if (withFirst !== null) kept.push(withFirst * 100);
    for (const { name, site, cost } of probes) if (name === "ggml/ops") sites.add(`${site} (${cost})`);
  });
  return { where, bpftrace, mode, hits: [], calibrations, predicted, kept, measured: [], sites };
}

async function calibrated(bpftrace: string): Promise<string> {
  const { stderr } = await mustRun([...llmprof, "doctor", "--calibrate", "--bpftrace", bpftrace], { timeoutMilliseconds: 60_000 });
  return /A hit with.*/.exec(stderr)?.[0] ?? "";
}

function report(name: string, { where, sites, hits, ...figures }: Variant): void {
  const measured = middle(figures.measured), foretold = middle(figures.predicted);
  if (figures.measured.length !== foretold.count) throw new Error(`${foretold.count} predictions of ${figures.measured.length} windows.`);
  if (figures.kept.length !== foretold.count) throw new Error(`${figures.kept.length} predictions with the first calibration of ${foretold.count}.`);
  const limit = Math.max(1, measured.median / 5);
  console.log(`bpftrace ${name}, ${where}: ${[...sites].join(", ")}`);
  for (const hit of hits) console.log(`  ${hit}`);
  const range = ({ median, low, high }: Middle) => `${median.toFixed(2)} (95 %: ${low.toFixed(2)} to ${high.toFixed(2)})`;
  console.log(`  predicted ${range(foretold)} %, measured ${range(measured)} % in ${measured.count} windows`);
  for (const [how, predicted] of [["predicted", figures.predicted], ["predicted with the first calibration", figures.kept]] as const) {
    const off = differences(predicted, figures.measured);
    console.log(`  ${judged(`${how} minus measured ${range(off)} points (${limit.toFixed(2)} at most)`, Math.abs(off.median) <= limit)}`);
  }
}

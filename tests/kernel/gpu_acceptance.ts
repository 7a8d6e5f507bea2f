/**
 * Repeats what gpu_test.ts compares, call by call, and prints a row for each kind of target: for a note, not for a gate. A row that is not as it should
 * be begins with `!`, and then it ends with 1. All of it takes three quarters of an hour: PATTERN names what is to be run of it.
 *
 *     deno run -A tests/kernel/gpu_acceptance.ts [--runs 5] [--bpftrace 0.17] [--only PATTERN]
 */
import { parseArgs } from "node:util";
import { chosenBpftraces } from "../harness/bpftraces.ts";
import { assertCalls } from "./gpu_calls_run.ts";
import { CALLS, ways } from "./gpu_ways.ts";

const options = { runs: { type: "string", default: "5" }, bpftrace: { type: "string" }, only: { type: "string", default: "" } } as const;
const { values } = parseArgs({ options });
const chosen = Object.entries(ways).filter(([what]) => new RegExp(values.only).test(what));
if (chosen.length === 0) throw new Error(`Nothing is "${values.only}" of: ${Object.keys(ways).join("; ")}`);
for (const { name, path } of chosenBpftraces(values.bpftrace)) {
  for (const [what, wayOf] of chosen) {
    const differing: string[] = [];
    let runs = 0;
    for (; runs < Number(values.runs); runs++) await assertCalls(wayOf, path).catch((error) => differing.push(String(error)));
    const all = runs > 0 && differing.length === 0;
    if (!all) Deno.exitCode = 1;
    console.log([all ? " " : "!", name, what, `${CALLS} calls in ${runs - differing.length} of ${runs}`, ...differing].join("  "));
  }
}

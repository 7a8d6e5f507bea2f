/**
 * Repeats what targets_test.ts counts and prints a row for each kind of target: for a note, not for a gate. A row that is not as it should be
 * begins with `!`, and then it ends with 1.
 *
 *     deno run -A tests/kernel/targets.ts [--runs 5] [--bpftrace 0.23] [--only PATTERN]
 */
import { parseArgs } from "node:util";
import { chosenBpftraces } from "../harness/bpftraces.ts";
import { countTarget, expectedCounts, targetKinds } from "./targets_run.ts";

const options = { runs: { type: "string", default: "5" }, bpftrace: { type: "string" }, only: { type: "string", default: "" } } as const;
const { values } = parseArgs({ options });
for (const { name, path } of chosenBpftraces(values.bpftrace)) {
  for (const kind of targetKinds.filter((kind) => new RegExp(values.only).test(kind.name))) {
    const expected = JSON.stringify(expectedCounts(kind));
    let good = 0;
    const others: string[] = [];
    for (let run = 1; run <= Number(values.runs); run++) {
      const counts = await countTarget(kind, path).then(JSON.stringify, String);
      if (counts === expected) good++;
      else others.push(counts);
    }
    const all = others.length === 0;
    if (!all) Deno.exitCode = 1;
    console.log([all ? " " : "!", name, kind.name, `${good} of ${values.runs}`, all ? expected : others.join("; ")].join("  "));
  }
}

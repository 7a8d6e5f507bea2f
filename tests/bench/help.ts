/**
 * What `llmprof --help` costs beside an empty Deno script: medians of 11, taken in turns. At most three times as much is wanted.
 *
 *     deno run -A tests/bench/help.ts
 */
import { mustRun } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";

const ROUNDS = 11;

using folder = temporary();
Deno.writeTextFileSync(folder.file("empty.ts"), "");
const commands = {
  "empty script": [Deno.execPath(), "run", folder.file("empty.ts")],
  "llmprof --help": [...llmprof, "--help"],
  "llmprof operators --help": [...llmprof, "operators", "--help"],
};
const taken = new Map<string, number[]>(Object.keys(commands).map((name) => [name, []]));
for (let round = 0; round <= ROUNDS; round++) {
  for (const [name, command] of Object.entries(commands)) {
    const { milliseconds } = await mustRun(command);
    // The first round fills caches.
    if (round > 0) taken.get(name)!.push(milliseconds);
  }
}
const medians = [...taken].map(([name, all]) => [name, all.toSorted((a, b) => a - b)[ROUNDS >> 1]!] as const);
const empty = medians[0]![1];
for (const [name, median] of medians) console.log(`${name.padEnd(26)}${median.toFixed(1).padStart(7)} ms  ${(median / empty).toFixed(2)}×`);

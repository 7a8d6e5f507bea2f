/**
 * What `llmprof --help` costs beside an empty Deno script: medians of 11, taken in turns. At most three times as much is wanted: ends with 1 where
 * it is more.
 *
 *     deno run -A tests/bench/help.ts
 */
import { mustRun } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import { judged } from "./judged.ts";
import { middle } from "./statistics.ts";

const ROUNDS = 11, MOST_TIMES = 3;

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
const [empty, ...helps] = [...taken].map(([name, all]) => ({ name, ms: middle(all).median })) as [Median, ...Median[]];
const row = ({ name, ms }: Median) => `${name.padEnd(26)}${ms.toFixed(1).padStart(7)} ms`;
console.log(row(empty));
for (const help of helps) {
  console.log(judged(`${row(help)}  × ${(help.ms / empty.ms).toFixed(2)} (${MOST_TIMES} at most)`, help.ms <= MOST_TIMES * empty.ms));
}

interface Median {
  readonly name: string;
  readonly ms: number;
}

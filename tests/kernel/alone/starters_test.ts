/** Programs that stop themselves when the one stands that they have started, and a debugger, for which a process stands that is stopped. */
import assert from "node:assert/strict";
import { start } from "../../harness/command.ts";
import { findProgram } from "../../harness/find_program.ts";
import { sampledTest } from "../../harness/kernel.ts";
import { temporary } from "../../harness/temporary.ts";
import { countedCalls } from "../../workloads/counted.ts";
import { Awake } from "../awake.ts";
import { outputPath, startLlmprof, summaryOf } from "../live_run.ts";
import { expectedCounts } from "../targets_run.ts";
import { plain, Way } from "../target_way.ts";
import { decodesIn } from "../trace_decodes.ts";

const needs = { gcc: true };
const runuser = ["runuser", "-u", "nobody", "--"];
const sudo = ["sudo", "-u", "nobody"];
const hasSudo = findProgram("sudo") !== null;

/** Starts what it is given as another user. Without a terminal, `sudo` stops itself alone. */
const starters = [runuser, ...hasSudo ? [["setsid", "--wait", ...sudo]] : []];
/** At one it stops its process group, which is not llmprof's where somebody else has typed it. */
const elsewhere = [runuser, ...hasSudo ? [["script", "--quiet", "--return", "/dev/null", "--command", ...sudo]] : []];

/** How long it stood each time, in milliseconds of a machine that runs. */
function stopsMs(way: Way, awake: Awake): number[] {
  const lines = way.written().trimEnd().split("\n").map((line) => JSON.parse(line));
  return lines.filter(({ category }) => category === "llmprof.stopped").map(({ start, end }) => awake.ran(BigInt(start), BigInt(end)));
}

async function started(words: readonly string[], bpftrace: string): Promise<void> {
  using folder = temporary();
  const way = new Way(bpftrace, folder);
  await using awake = new Awake();
  const { program, library } = plain(way);
  await way.started([...words, program, `load=${library}`, "call"]);
  assert.deepEqual(way.counts, expectedCounts({ name: "", times: 1, run: () => Promise.resolve() }));
  assert.deepEqual(way.written().match(/process \d+ was continued by .*?:/g), null);
  const stops = stopsMs(way, awake);
  // For so long is waited for one that never stands.
  assert.ok(stops.length > 0 && stops.every((ms) => ms < 2000), `${stops} ms`);
}

for (const [index, words] of starters.entries()) {
  sampledTest(index, `${words.join(" ")}, started by llmprof, goes on with its program, of which every call is in the trace`, needs, ({ path }) => {
    return started(words, path);
  }, index > 0);
}

sampledTest(0, "a program under strace stands no longer than one without", { ...needs, strace: true }, ({ path }) => {
  return started(["strace", "-f", "-o", "/dev/null", "-e", "trace=none"], path);
});

for (const [index, words] of elsewhere.entries()) {
  sampledTest(
    index,
    `${words.join(" ")}, started by somebody else while llmprof waits, goes on with its program`,
    needs,
    async ({ path: bpftrace }) => {
      using folder = temporary();
      const { program, library } = plain(new Way(bpftrace, folder));
      await using llmprof = startLlmprof("coldstart", { bpftrace, folder, formats: ["jsonl"] });
      await llmprof.saw("Waiting for the next");
      const command = [program, `load=${library}`, "call"];
      const at = words.indexOf("--command");
      await using target = start(at < 0 ? [...words, ...command] : [...words.slice(0, at + 1), [...words.slice(at + 1), ...command].join(" ")]);
      await target.succeeded();
      summaryOf("coldstart", await llmprof.finished());
      assert.equal((await decodesIn(outputPath(folder, "jsonl"))).length, countedCalls.decodes);
    },
  );
}

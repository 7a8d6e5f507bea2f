import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import type { OperatorsResult } from "../../lib/analysis/operators_schema.ts";
import type { Summary } from "../../lib/analysis/summary.ts";
import { type Running, start } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import { type Temporary, temporary } from "../harness/temporary.ts";
import { until } from "../kernel/processes.ts";
import { writeRecording } from "../workloads/recording.ts";

const OPERATORS = 500_000;

/** An export of so many operators of which a part has been written. Its outputs are `t.json` and `t.jsonl`. */
async function amid(folder: Temporary): Promise<Running> {
  writeRecording(folder.file("run.llmprof"), OPERATORS);
  const outputs = ["t.json", "t.jsonl"].map((name) => folder.file(name));
  const replay = start([...llmprof, "export", folder.file("run.llmprof"), "--summary", "json", ...outputs.flatMap((path) => ["-o", path])]);
  await until("something is written", () => outputs.every((path) => existsSync(path) && Deno.statSync(path).size > 0));
  return replay;
}

/** When operators began: as the recording has it, and as a file tells it that is whole up to where it ends. */
function begins(folder: Temporary): { readonly recorded: string[]; readonly told: string[] } {
  const lines = (name: string) => Deno.readTextFileSync(folder.file(name)).trimEnd().split("\n");
  const [schema, ...recorded] = lines("run.llmprof/ggml.lines");
  const [kind] = Object.entries(JSON.parse(schema!).records as Record<string, { name: string }>).find(([, { name }]) => name === "ggml/ops.op")!;
  const slices = lines("t.jsonl").map((line) => JSON.parse(line)).filter(({ category }) => category === "ggml.op");
  const times = recorded.flatMap((line) => line.startsWith(`${kind} `) ? line.split(" ")[1]! : []);
  assert.equal(times.length, OPERATORS);
  return { recorded: times, told: slices.map(({ start }) => start) };
}

/** Every operator up to some time, and none behind it; the same in Chrome's JSON, which opens. */
function mustTellTheBeginning(folder: Temporary): void {
  const { recorded, told } = begins(folder);
  assert.ok(told.length > 1000 && told.length < OPERATORS, `${told.length} operators`);
  assert.deepEqual(told, recorded.slice(0, told.length));
  const { traceEvents } = JSON.parse(Deno.readTextFileSync(folder.file("t.json")));
  assert.ok(traceEvents.filter(({ cat }: { cat?: string }) => cat === "ggml.op").length > 1000);
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.test(`export: a ${signal} amid a long recording is a normal end: what was replayed opens, and it is said how far that is`, async () => {
    using folder = temporary();
    await using replay = await amid(folder);
    replay.kill(signal);
    const { code, stdout, stderr } = await replay.finished();
    assert.equal(code, 0, stderr);
    const [, seconds] = /^Interrupted (\d+\.\d+) s after counting began: what came later is in the recording alone\.\n/.exec(stderr)!;
    assert.match(stderr, new RegExp(`\nWrote ${folder.file("t.json")}: open it with .*\nWrote ${folder.file("t.jsonl")}: .*\n$`));
    assert.doesNotMatch(stderr, /not understood|lost/);
    mustTellTheBeginning(folder);
    const { recorded, told } = begins(folder);
    const { result, events }: Summary<OperatorsResult> = JSON.parse(stdout);
    assert.deepEqual([result.workers.map(({ calls }) => calls), events.lost], [[told.length], 0]);
    const until = Number(BigInt(told.at(-1)!) - BigInt(recorded[0]!)) / 1e9;
    assert.ok(Math.abs(Number(seconds) - until) < 1, `said ${seconds} s, and the last operator began after ${until} s`);
  });
}

Deno.test("export: a Ctrl-C that ends who would read the summary, too, is a normal end, and no other run is advised", async () => {
  using folder = temporary();
  writeRecording(folder.file("run.llmprof"), OPERATORS);
  const path = folder.file("t.jsonl"), words = ["export", folder.file("run.llmprof"), "--summary", "json", "-o", path];
  // The shell becomes llmprof, and what its standard output leads to ends at once.
  await using replay = start(["bash", "-c", 'exec "$@" > >(true)', "bash", ...llmprof, ...words]);
  await until("something is written", () => existsSync(path) && Deno.statSync(path).size > 0);
  replay.kill("SIGINT");
  const { code, stderr } = await replay.finished();
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^Wrote .*t\.jsonl: /m);
  assert.doesNotMatch(stderr, /the summary|--duration/);
});

Deno.test("export: what a replay has written when it is killed opens", async () => {
  using folder = temporary();
  await using replay = await amid(folder);
  // Stopped before, so that it is killed between two calls of the system.
  replay.kill("SIGSTOP");
  await until("it stands", () => /^State:\tT/m.test(Deno.readTextFileSync(`/proc/${replay.pid}/status`)));
  replay.kill("SIGKILL");
  assert.equal((await replay.finished()).signal, "SIGKILL");
  mustTellTheBeginning(folder);
});

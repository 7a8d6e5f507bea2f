/** What Deno keeps from llmprof, such as the RAM disk in /dev/shm, is no fault of llmprof's: it is said, and whose it is. */
import assert from "node:assert/strict";
import { doctorSummarySchema } from "../../mod.ts";
import { temporary } from "../harness/temporary.ts";
import { demoFolder } from "./demo_recording.ts";
import { runLlmprof } from "./llmprof.ts";

const why = "Deno, on which llmprof runs, opens what lies below /dev, /proc and /sys only to programs that may do everything.";

Deno.test("kept folders: doctor says from there what it says elsewhere, and that no trace can be written", async () => {
  using memory = temporary("/dev/shm");
  const args = ["doctor", "--summary", "json"];
  const [there, elsewhere] = await Promise.all([runLlmprof(args, { cwd: memory.path }), runLlmprof(args, { cwd: "/tmp" })]);
  const [found, other] = [there, elsewhere].map(({ stdout }) => doctorSummarySchema.parse(JSON.parse(stdout)).result);
  const { state, found: said, consequence } = found!.checks.find(({ need }) => need === `room in ${memory.path}`)!;
  assert.deepEqual([state, said, consequence], ["warning", "closed to llmprof by Deno", "No trace can be written there."]);
  const [needs, others] = [found!, other!].map(({ checks }) => checks.map(({ need }) => need).filter((need) => !need.startsWith("room in ")));
  assert.deepEqual([there.code, needs], [elsewhere.code, others]);
});

Deno.test("kept folders: what cannot be written or read there is told by its name, with the reason", async () => {
  using memory = temporary("/dev/shm");
  const recording = await demoFolder(memory.path), file = memory.file("io.jsonl");
  Deno.writeTextFileSync(file, "{}\n");
  const tried: readonly (readonly [args: readonly string[], code: number, what: RegExp])[] = [
    [["demo"], 2, /^Cannot write llmprof-demo-\d{8}-\d{6}\.pftrace\. /m],
    [["demo", "-o", memory.file("a.json")], 2, /^Cannot write \/dev\/shm\/.*\/a\.json\. /m],
    [["sched", "--pid", String(Deno.pid), "-o", memory.file("a.llmprof")], 2, /^Cannot write .*\/a\.llmprof\. /m],
    [["sched", "--all", "--snapshots", "a.jsonl"], 2, /^Cannot write a\.jsonl\. /],
    [["report", file], 1, /^Cannot read .*\/io\.jsonl\. /],
    [["gpu", "--list-calls", "--", file], 1, /^Cannot read .*\/io\.jsonl\. /],
  ];
  for (const [args, code, what] of tried) {
    const { code: found, stderr } = await runLlmprof(args, { cwd: memory.path });
    assert.match(stderr, what);
    assert.ok(stderr.includes(` ${why}\n`), stderr);
    assert.equal(found, code, args.join(" "));
  }
  assert.deepEqual([...Deno.readDirSync(memory.path)].map(({ name }) => memory.file(name)).toSorted(), [file, recording].toSorted());
});

import assert from "node:assert/strict";
import * as z from "zod";
import { coldstartResultSchema, demoResultSchema, operatorsResultSchema, summarySchema } from "../../mod.ts";
import { mustRun } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import { demoFolder } from "./demo_recording.ts";
import { runLlmprof } from "./llmprof.ts";

Deno.test("demo: without arguments it leaves a trace, prints the line to type, a summary, and at last how to open it", async () => {
  using folder = temporary();
  const { code, stdout, stderr } = await runLlmprof(["demo"], { cwd: folder.path });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^Cold start\n.*time to first token/);
  assert.match(stdout, /^Operators\n.*\n.*\n +MUL_MAT /m);
  const [file] = [...Deno.readDirSync(folder.path)].map(({ name }) => name);
  assert.match(file!, /^llmprof-demo-\d{8}-\d{6}\.pftrace$/);
  assert.match(stderr, /sudo llmprof operators --pid N/);
  assert.ok(stderr.endsWith(`\nWrote ${file}: open it with ui.perfetto.dev\n`), stderr);
});

Deno.test("demo: colour for a terminal that has it, and none for one that says it is dumb", async () => {
  const shown = async (TERM: string) => {
    const words = ["env", "-u", "NO_COLOR", `TERM=${TERM}`, ...llmprof, "demo", "--no-output"];
    return (await mustRun(["script", "--quiet", "--return", "--command", words.join(" "), "/dev/null"])).stdout.includes("\x1b[");
  };
  assert.deepEqual([await shown("xterm"), await shown("dumb")], [true, false]);
});

Deno.test("the demo's summary has the shape that mod.ts exports", async () => {
  const { code, stdout } = await runLlmprof(["demo", "--no-output", "--summary", "json", "--quiet"]);
  const summary = summarySchema(demoResultSchema).parse(JSON.parse(stdout));
  assert.deepEqual([code, summary.command, summary.events.lost, summary.outputs], [0, "demo", 0, []]);
  assert.ok(summary.events.emitted > 1000);
  assert.equal(summary.events.emitted, summary.events.received);
});

Deno.test("export and --from give the same bytes as the demo, in every format", async () => {
  using folder = temporary();
  const recording = await demoFolder(folder.path);
  const names = ["t.pftrace", "t.pftrace.gz", "t.json", "t.jsonl", "t.jsonl.gz"];
  const outputs = (kind: string) => names.flatMap((name) => ["-o", folder.file(`${kind}-${name}`)]);
  assert.equal((await runLlmprof(["demo", ...outputs("demo")])).code, 0);
  assert.equal((await runLlmprof(["export", recording, ...outputs("export")])).code, 0);
  for (const name of names) {
    const [demo, exported] = ["demo", "export"].map((kind) => Deno.readFileSync(folder.file(`${kind}-${name}`)));
    assert.ok(demo!.length > 1000);
    assert.deepEqual(demo, exported, name);
  }
});

Deno.test("demo -o NAME.llmprof leaves a recording to try with, which gives what the demo does", async () => {
  using folder = temporary();
  const { code, stderr } = await runLlmprof(["demo", "-o", "x.llmprof", "-o", "z.json"], { cwd: folder.path });
  assert.equal(code, 0, stderr);
  const [, typed] = /^Wrote x\.llmprof: open it with llmprof (export x\.llmprof -o trace\.pftrace)$/m.exec(stderr)!;
  assert.equal((await runLlmprof([...typed!.split(" "), "-o", "y.json"], { cwd: folder.path })).code, 0);
  assert.deepEqual(Deno.readFileSync(folder.file("y.json")), Deno.readFileSync(folder.file("z.json")));
  // What is part of llmprof, as the recording that it was made from.
  const packed = await demoFolder(folder.path);
  const files = (path: string) => [...Deno.readDirSync(path)].map(({ name }) => [name, Deno.readTextFileSync(`${path}/${name}`)]).sort();
  assert.deepEqual(files(folder.file("x.llmprof")), files(packed));
});

for (const [command, schema] of [["operators", operatorsResultSchema], ["coldstart", coldstartResultSchema]] as const) {
  Deno.test(`${command} --from explains a recording that has its probes`, async () => {
    using folder = temporary();
    const args = [command, "--from", await demoFolder(folder.path), "--no-output", "--summary", "json"];
    const { code, stdout, stderr } = await runLlmprof(args);
    assert.equal(code, 0);
    assert.match(stderr, /^Overhead: predicted [\d.]+ %( \(uncalibrated\))?, not measured\.\n$/);
    assert.equal(summarySchema(schema as z.ZodType).parse(JSON.parse(stdout)).command, command);
  });
}

Deno.test("a recording without the probes of a command is refused with the command that explains it", async () => {
  using folder = temporary();
  const path = await demoFolder(folder.path, (header) => header.replace('"command": "demo"', '"command": "coldstart"'));
  const { code, stderr } = await runLlmprof(["operators", "--from", path]);
  assert.match(stderr, /cannot answer what operators asks\. .*\nTry: llmprof coldstart --from /);
  assert.equal(code, 2);
  using another = temporary();
  const demo = await runLlmprof(["sched", "--from", await demoFolder(another.path)]);
  const [, next] = /^Try: llmprof (.*)$/m.exec(demo.stderr)!;
  const explained = await runLlmprof(next!.split(" "));
  assert.deepEqual([demo.code, explained.code], [2, 0], explained.stderr);
  assert.match(explained.stdout, /^Operators$/m);
});

Deno.test("a recording of record answers what its layers do, and no other", async () => {
  using folder = temporary();
  const path = await demoFolder(folder.path, (header) => header.replace('"demo"', '"record"').replace("coldstart,operators", "operators,io"));
  const run = (command: string) => runLlmprof([command, "--from", path, "--no-output"]);
  const [operators, io, sched, coldstart] = [await run("operators"), await run("io"), await run("sched"), await run("coldstart")];
  assert.deepEqual([operators.code, io.code], [0, 0], operators.stderr + io.stderr);
  for (const [asked, { code, stderr }] of [["sched", sched], ["coldstart", coldstart]] as const) {
    assert.match(stderr, new RegExp(`cannot answer what ${asked} asks\\. .*\nTry: llmprof record --from `));
    assert.equal(code, 2);
  }
});

Deno.test("what is no recording, or one of another llmprof, ends with 1", async () => {
  using folder = temporary();
  const unknown = await runLlmprof(["export", await demoFolder(folder.path, (header) => header.replace('"demo"', '"paint"'))]);
  assert.match(unknown.stderr, /It was made by 'paint', which this llmprof does not know\./);
  const none = await runLlmprof(["export", folder.path]);
  assert.match(none.stderr, /it has no header\.json\./);
  assert.deepEqual([unknown.code, none.code], [1, 1]);
});

Deno.test("what cannot be read leaves no new output behind, and one that was there as it was", async () => {
  using folder = temporary();
  const path = await demoFolder(folder.path);
  // Streams are opened in the order of their names: others could be read already.
  Deno.writeTextFileSync(`${path}/process.lines`, "no stream\n");
  Deno.writeTextFileSync(folder.file("old.json"), "before");
  const outputs = ["new.json", "new.pftrace", "new.jsonl.gz", "old.json"].flatMap((name) => ["-o", folder.file(name)]);
  const { code, stderr } = await runLlmprof(["export", path, ...outputs]);
  assert.match(stderr, /process\.lines: its first line is no stream description\./);
  assert.equal(code, 1);
  assert.deepEqual([...Deno.readDirSync(folder.path)].map(({ name }) => name).sort(), ["demo.llmprof", "old.json"]);
  assert.equal(Deno.readTextFileSync(folder.file("old.json")), "before");
});

Deno.test("a recording of a recording is refused", async () => {
  using folder = temporary();
  const path = await demoFolder(folder.path);
  const { code, stderr } = await runLlmprof(["export", path, "-o", folder.file("b.llmprof")]);
  assert.match(stderr, /is a recording already\. .*\nTo copy it: cp -r /);
  assert.equal(code, 2);
});

Deno.test("--max-loss ends with 4 when more was lost, after everything was written", async () => {
  using folder = temporary();
  const path = await demoFolder(folder.path);
  // The kernel counted more than came.
  const lines = Deno.readTextFileSync(`${path}/llama.lines`);
  Deno.writeTextFileSync(`${path}/llama.lines`, lines.replaceAll(/^@n: (\d+)$/gm, (_, n) => `@n: ${Number(n) + 7}`));
  const run = (limit: string) => runLlmprof(["export", path, "--summary", "json", "--max-loss", limit, "-o", folder.file(`${limit}.pftrace`)]);
  const [strict, loose] = [await run("6"), await run("7")];
  assert.deepEqual([strict.code, loose.code], [4, 0]);
  assert.equal(JSON.parse(strict.stdout).events.lost, 7);
  assert.match(strict.stderr, /7 of \d+ events were lost[^]*than --max-loss 6 allows\.\nTry a larger buffer/);
  assert.ok(Deno.statSync(folder.file("6.pftrace")).size > 1000);
});

import { setTimeout as pause } from "node:timers/promises";
import assert from "node:assert/strict";
import * as z from "zod";
import { coldstartResultSchema, operatorsResultSchema, summarySchema } from "../../mod.ts";
import { anyLibrary } from "../harness/any_library.ts";
import { mustRun, start } from "../harness/command.ts";
import { kernelTest, sampledTest } from "../harness/kernel.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import { interruptedUntilGone } from "../kernel/processes.ts";
import { engineCommand } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { runLlmprof } from "./llmprof.ts";

for (const [command, schema] of [["operators", operatorsResultSchema], ["coldstart", coldstartResultSchema]] as const) {
  kernelTest(`${command}: stdout holds only a summary of the exported shape; its recording replays to the same bytes`, {
    bpftrace: true,
    engine: true,
  }, async () => {
    using folder = temporary();
    const [trace, recording, again] = ["a.pftrace", "a.llmprof", "b.pftrace"].map((name) => folder.file(name)) as [string, string, string];
    const program = engineCommand({ model: model("tiny"), tokens: 5 });
    const live = await runLlmprof([command, "--summary", "json", "-o", trace, "-o", recording, "--", ...program]);
    assert.equal(live.code, 0, live.stderr);
    const summary = summarySchema(schema as z.ZodType).parse(JSON.parse(live.stdout));
    assert.deepEqual([summary.command, summary.target?.argv, summary.target?.exitCode], [command, program, 0]);
    const replayed = await runLlmprof([command, "--from", recording, "--summary", "json", "-o", again]);
    assert.deepEqual({ ...JSON.parse(replayed.stdout), outputs: null }, { ...JSON.parse(live.stdout), outputs: null });
    assert.deepEqual(Deno.readFileSync(again), Deno.readFileSync(trace));
  });
}

sampledTest(1, "a process without the library, and one that ends while llmprof attaches: 1, with what to do", {}, async ({ path }) => {
  using folder = temporary();
  await using other = start(["sleep", "60"]);
  const none = await runLlmprof(["operators", "--pid", String(other.pid), "--no-output"]);
  assert.match(none.stderr, /has no libggml-cpu\*\.so mapped\. It computes with neither.*\n.*--wait/);
  await using brief = start(["sleep", "60"]);
  // It ends when bpftrace has been given a program that is about it, and has not begun to attach that.
  const bpftrace = folder.file("bpftrace");
  const given =
    `for last; do :; done\nif [ "$last" = - ]; then cat > "$0.$$"; grep -q ${brief.pid} "$0.$$" && kill -KILL ${brief.pid}; exec < "$0.$$"; fi`;
  Deno.writeTextFileSync(bpftrace, `#!/bin/sh\n${given}\nexec "${path}" "$@"\n`);
  Deno.chmodSync(bpftrace, 0o755);
  const ended = await runLlmprof(["coldstart", "--pid", String(brief.pid), "--no-output", "--bpftrace", bpftrace]);
  assert.match(ended.stderr, /ended while llmprof was attaching\. There is nothing left to trace\.\n/);
  assert.deepEqual([none.code, ended.code], [1, 1]);
});

kernelTest("a program that asks another process to run its model: what to type instead", { bpftrace: true }, async () => {
  using folder = temporary();
  const ollama = folder.file("ollama");
  Deno.copyFileSync("/bin/true", ollama);
  const env = { PATH: `${folder.path}:${Deno.env.get("PATH")}` };
  const asked = ["--no-output", "--", "ollama", "run", "model"];
  const [start, operators] = [await runLlmprof(["coldstart", ...asked], { env }), await runLlmprof(["operators", ...asked], { env })];
  assert.match(start.stdout.replace(/\s+/g, " "), /What ollama asks for runs under another process, and nothing of it was seen: llmprof coldstart/);
  assert.match(
    operators.stderr,
    /What ollama asks for runs under another process, .*\nStart it without llmprof, and watch what it asks for: llmprof coldstart, without a program, waits/,
  );
  assert.deepEqual([start.code, operators.code], [0, 1]);
});

kernelTest("a library without the functions: 1, and which function is missing", { bpftrace: true }, async () => {
  using folder = temporary();
  const library = folder.file("libggml-cpu-stripped.so");
  Deno.copyFileSync(await anyLibrary(), library);
  await using target = start(["env", `LD_PRELOAD=${library}`, "sleep", "60"]);
  while (!Deno.readTextFileSync(`/proc/${target.pid}/maps`).includes(library)) await pause(10);
  const { code, stderr } = await runLlmprof(["operators", "--pid", String(target.pid), "--no-output"]);
  assert.match(stderr, /^libggml-cpu-stripped\.so does not name the function ggml_\w+.*\. Its symbols were stripped/m);
  assert.equal(code, 1);
});

kernelTest("a program that llmprof starts may have as many files open as one that the same shell starts", { bpftrace: true }, async () => {
  using folder = temporary();
  const told = (name: string) => ["sh", "-c", `(ulimit -S -n; ulimit -H -n) > ${folder.file(name)}`];
  // A shell that goes on: llmprof's parent.
  const shell = (...words: readonly string[]) => mustRun(["sh", "-c", 'ulimit -S -n 311; "$@"; exit $?', "sh", ...words]);
  await shell(...told("without"));
  await shell(...llmprof, "coldstart", "--no-output", "--quiet", "--", ...told("with"));
  const [without, with_] = ["without", "with"].map((name) => Deno.readTextFileSync(folder.file(name)));
  assert.match(without!, /^311\n/);
  assert.equal(with_, without);
});

kernelTest(
  "a program that llmprof starts has the variables of llmprof's options as they were given, also those that say no",
  { bpftrace: true },
  async () => {
    const env = { LLMPROF_DURATION: "", LLMPROF_FSYNC: "0", LLMPROF_VERBOSE: "no" };
    const { code, stdout, stderr } = await runLlmprof(["io", "--no-output", "--", "env"], { env });
    assert.equal(code, 0, stderr);
    for (const [name, said] of Object.entries(env)) assert.ok(stdout.includes(`${name}=${said}\n`), name);
  },
);

kernelTest("zero events: 0, with a note", { bpftrace: true }, async () => {
  await using idle = start(["sleep", "60"]);
  const { code, stdout, stderr } = await runLlmprof(["coldstart", "--pid", String(idle.pid), "--duration", "500ms", "--no-output"]);
  assert.match(stderr, /^Note: no event was seen\./m);
  assert.deepEqual([code, stdout], [0, ""]);
});

kernelTest("a process that is not there: 2, and nothing is left of what was started ahead", { bpftrace: true }, async () => {
  // Others beside this test have their folders in /run, too.
  const script = 'mount -t tmpfs tmpfs /run || exit 9; "$@"; code=$?; ls -A /run; exit $code';
  const args = ["operators", "--pid", "4194303", "--no-output"];
  await using alone = start(["unshare", "--mount", "sh", "-c", script, "sh", ...llmprof, ...args]);
  const { code, stdout, stderr } = await alone.finished();
  assert.match(stderr, /^There is no process 4194303\./);
  assert.deepEqual([code, stdout], [2, ""]);
});

kernelTest("no bpftrace, no tracefs: 3, with the line that mends it", { bpftrace: true }, async () => {
  const args = ["operators", "--pid", String(Deno.pid), "--no-output"];
  const missing = await runLlmprof([...args, "--bpftrace", "/no/bpftrace"]);
  assert.match(missing.stderr, /^Tracing needs bpftrace 0\.16 or newer: \/no\/bpftrace is none\. .*\nTry: \/no\/bpftrace --version\n/);
  const script = 'for place in /sys/kernel/tracing /sys/kernel/debug; do umount -l "$place" 2>/dev/null; done; exec "$@"';
  await using bare = start(["unshare", "--mount", "sh", "-c", script, "sh", ...llmprof, ...args]);
  const unmounted = await bare.finished();
  assert.match(unmounted.stderr, /^Tracing needs tracefs: not mounted\. .*\nRun: mount -t tracefs tracefs \/sys\/kernel\/tracing\n/);
  assert.deepEqual([missing.code, unmounted.code], [3, 3]);
});

/** Runs until a text appears on stderr, then sends signals one after another. */
async function interrupted(args: readonly string[], text: string, ...signals: Deno.Signal[]) {
  await using running = start([...llmprof, ...args]);
  await running.saw(text);
  for (const signal of signals) running.kill(signal);
  return await running.finished();
}

kernelTest("Ctrl-C and SIGTERM are a normal end, also while waiting; nothing is written when nothing was traced", { bpftrace: true }, async () => {
  using folder = temporary();
  const waiting = await interrupted(["coldstart", "-o", folder.file("a.json")], "Waiting for the next", "SIGINT");
  const matching = await interrupted(
    ["operators", "--wait", "--comm", "no-such-name", "-o", folder.file("a.json")],
    "Waiting for a process",
    "SIGTERM",
  );
  for (const { code, stderr } of [waiting, matching]) {
    assert.match(stderr, /Nothing was traced/);
    assert.equal(code, 0);
  }
  assert.deepEqual([...Deno.readDirSync(folder.path)], []);
  await using idle = start(["sleep", "60"]);
  const counting = await interrupted(["coldstart", "--pid", String(idle.pid), "-o", folder.file("a.json")], "Tracing process", "SIGINT");
  assert.equal(counting.code, 0, counting.stderr);
  JSON.parse(Deno.readTextFileSync(folder.file("a.json")));
});

kernelTest("a second Ctrl-C kills", { bpftrace: true }, async () => {
  await using idle = start(["sleep", "60"]);
  await using running = start([...llmprof, "coldstart", "--pid", String(idle.pid), "--no-output"]);
  await running.saw("Tracing process");
  running.kill("SIGINT");
  await running.saw("Reading what is left");
  await interruptedUntilGone(running.pid, () => running.kill("SIGINT"));
  assert.equal((await running.finished()).code, 130);
});

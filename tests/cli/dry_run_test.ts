import assert from "node:assert/strict";
import { join } from "node:path";
import { start } from "../harness/command.ts";
import { matrixTest, sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { until } from "../kernel/processes.ts";
import { built } from "../setup/programs.ts";
import { startEngine } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { runLlmprof } from "./llmprof.ts";

/** Programs as they are printed: the command line that runs each, and its text as a here-document. */
function printed(stdout: string): { heading: string; command: string }[] {
  return [...stdout.matchAll(/((?:^# .*\n)+)(^env [^]*?\nEOF)$/gm)].map(([, heading, command]) => ({ heading: heading!, command: command! }));
}

/** The streams of these programs. */
function streams(stdout: string): string[] {
  return printed(stdout).map(({ heading }) => /^# (\w+):/.exec(heading)![1]!);
}

/** Runs a command line in a shell until the program says that it is attached. */
async function mustAttach(command: string): Promise<void> {
  await using shell = start(["setsid", "sh", "-c", command], { timeoutMilliseconds: 30_000 });
  await shell.saw(/^ready$/m);
  // The shell waits for bpftrace: both are in the session that setsid made.
  Deno.kill(-shell.pid, "SIGINT");
  await shell.finished();
}

matrixTest("--dry-run: each printed program runs under plain bpftrace with the command line above it", { engine: true }, async ({ path }) => {
  using folder = temporary();
  await using engine = startEngine({ model: model("tiny"), waitFile: folder.file("never") });
  await engine.saw('"waiting"');
  // Where a trace would go is no folder for programs.
  const env = { LLMPROF_OUTPUT: folder.file("trace.pftrace") };
  const { code, stdout, stderr } = await runLlmprof(["operators", "--dry-run", "--bpftrace", path, "--pid", String(engine.pid)], { env });
  assert.deepEqual([code, stderr], [0, ""]);
  const programs = printed(stdout);
  assert.deepEqual(streams(stdout), ["target"]);
  assert.match(stdout, /^# +libllama\S*:llama_decode\S* {2}\(llama\/calls; (emulated|shared with its return).*: (about )?[\d.]+ µs a hit\)$/m);
  // A number is nobody's twice, so that no other process is waited for. (Tokens are only told of by llama.cpp, which is there.)
  const waiting = await runLlmprof(["operators", "--detail", "token", "--dry-run", "--bpftrace", path, "--pid", String(engine.pid), "--wait"]);
  assert.deepEqual(streams(waiting.stdout), ["target"]);
  for (const { command } of programs) await mustAttach(command);
});

sampledTest(
  2,
  "--dry-run: a rate at which tracing would cost more than the limit ends with 4, when all was printed",
  { engine: true },
  async ({ path }) => {
    using folder = temporary();
    await using engine = startEngine({ model: model("tiny"), waitFile: folder.file("never") });
    await engine.saw('"waiting"');
    const limited = (rate: string) =>
      runLlmprof(["operators", "--dry-run", "--bpftrace", path, "--pid", String(engine.pid), "--rate", rate, "--max-overhead", "2%"]);
    const [dear, cheap] = [await limited("1M/s"), await limited("1/s")];
    assert.deepEqual([streams(dear.stdout), streams(cheap.stdout)], [["target"], ["target"]]);
    // A million hits for a second of its own work: a microsecond for each is another second, which is 100 %.
    const [, label, cost] = /hits\/s of (.*) \((.*)\): [\d.]+ % of one fully used core\.\n$/.exec(dear.stdout)!;
    const [, microseconds] = dear.stdout.split("\n").find((line) => line.includes(label!) && line.includes(cost!))!.match(/([\d.]+) µs a hit/)!;
    const [, told] = /^Tracing would cost more than --max-overhead 2\.0 % allows\. .*: ([\d.]+) % of .*\nSee less: --detail graph\n$/.exec(
      dear.stderr,
    )!;
    assert.ok(Math.abs(Number(told) - 100 * Number(microseconds)) < 1, `${told} % at ${microseconds} µs a hit`);
    assert.deepEqual([dear.code, cheap.code, cheap.stderr], [4, 0, ""]);
  },
);

sampledTest(0, "--dry-run: a process that a run would be refused is refused", {}, async ({ path }) => {
  await using target = start(["sleep", "60"]);
  const dryRun = (...words: string[]) => runLlmprof([...words, "--dry-run", "--bpftrace", path, "--pid", String(target.pid)]);
  const { code, stderr } = await dryRun("operators");
  assert.deepEqual([code, /^Process \d+ has no libggml\S* mapped\./.test(stderr)], [1, true], stderr);
  const waiting = await dryRun("operators", "--wait");
  assert.deepEqual([waiting.code, streams(waiting.stdout)], [0, ["process", "gate"]], waiting.stderr);
});

sampledTest(1, "--dry-run: functions that share an attach point are written one by one, and told of together", {}, async ({ path }) => {
  await using target = start([join(built.gpu.quiet.plain, "launching"), "100", "60000"]);
  await until("it has mapped its library", () => Deno.readTextFileSync(`/proc/${target.pid}/maps`).includes("libcuda.so.1"));
  const { code, stdout, stderr } = await runLlmprof(["gpu", "--dry-run", "--bpftrace", path, "--pid", String(target.pid)]);
  assert.deepEqual([code, stderr], [0, ""]);
  const points = [...stdout.matchAll(/^u(?:ret)?probe:.*:"(cu\w+)"/gm)].map(([, name]) => name);
  assert.ok(points.includes("cuLaunchKernel"));
  const told = stdout.split("\n").filter((line) => /^# .*libcuda\.so\.1: \d+ functions/.test(line));
  assert.ok(told.length > 0 && told.length < points.length / 2, `${told.length} lines for ${points.length} attach points`);
  for (const { command } of printed(stdout)) await mustAttach(command);
});

sampledTest(0, "--dry-run -o: a file for each program, and what is not mapped yet is listed", {}, async ({ path }) => {
  using folder = temporary();
  const { code, stdout } = await runLlmprof(["coldstart", "--dry-run", "--bpftrace", path, "-o", folder.file("programs")]);
  assert.equal(code, 0);
  const lines = stdout.trimEnd().split("\n");
  assert.match(lines.pop()!, /^# Not rendered, because no libllama\.\* is mapped yet: llama\/calls\./);
  assert.deepEqual([...Deno.readDirSync(folder.file("programs"))].map(({ name }) => name).toSorted(), ["gate.bt", "process.bt"]);
  for (const line of lines) {
    const file = line.split(" ").at(-1)!;
    assert.ok(Deno.readTextFileSync(file).includes(`\n// ${line}\n`), "the file says how to run it");
    await mustAttach(line);
  }
});

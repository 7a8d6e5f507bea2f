/** Who belongs to a target, whatever becomes of its processes. */
import assert from "node:assert/strict";
import { start } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { until } from "../harness/until.ts";
import { built } from "../setup/programs.ts";
import { Awake } from "./awake.ts";
import { bootNow } from "./boot_clock.ts";
import { outputPath, startLlmprof, summaryOf, wholeSummaryOf } from "./live_run.ts";
import { watchedTurns } from "./watched_turns.ts";

sampledTest(1, "members: a process goes on without its main thread, and is watched until it ends", {}, async ({ path }) => {
  using folder = temporary();
  Deno.writeFileSync(folder.file("read"), new Uint8Array(211));
  await using program = start([built.headless, folder.file("read"), folder.file("go")]);
  await program.saw("ready");
  await using awake = new Awake();
  await using llmprof = startLlmprof("io", { bpftrace: path, folder, target: { pid: program.pid }, formats: ["jsonl"] });
  await llmprof.saw("Tracing");
  Deno.writeTextFileSync(folder.file("go"), "");
  await program.finished();
  const ended = bootNow();
  const { result } = summaryOf("io", await llmprof.finished());
  assert.equal(result.files.find(({ file }) => file === "read")?.reads, 211);
  const [turn] = watchedTurns(outputPath(folder, "jsonl"));
  const lateMs = awake.ran(ended, turn!.closed!);
  assert.ok(lateMs < 7000, `its end is seen when it comes, and not ${lateMs} ms later`);
});

sampledTest(2, "members: a process whose main thread has ended before anybody looked is found, and its threads are watched", {}, async ({ path }) => {
  using folder = temporary();
  Deno.writeFileSync(folder.file("read"), new Uint8Array(211));
  Deno.writeTextFileSync(folder.file("go"), "");
  await using program = start([built.headless, folder.file("read"), folder.file("go"), folder.file("on")]);
  const status = `/proc/${program.pid}/status`;
  assert.ok(await until(async () => /^State:\tZ/m.test(await Deno.readTextFile(status))));
  await using llmprof = startLlmprof("io", { bpftrace: path, folder, target: { pid: program.pid }, formats: [] });
  await llmprof.saw("Tracing");
  Deno.writeTextFileSync(folder.file("on"), "");
  await program.finished();
  const { result } = summaryOf("io", await llmprof.finished());
  assert.equal(result.files.find(({ file }) => file === "read")?.reads, 211);
});

sampledTest(0, "members: children that are forked while programs are attached are seen", {}, async ({ path }) => {
  using folder = temporary();
  for (let number = 1; number < 1000; number++) Deno.writeFileSync(folder.file(`${number}`), new Uint8Array(number));
  await using program = start([built.forks, folder.path, folder.file("go")]);
  await program.saw("ready");
  await using llmprof = startLlmprof("io", { bpftrace: path, folder, target: { pid: program.pid }, formats: [] });
  await llmprof.saw("Tracing");
  Deno.writeTextFileSync(folder.file("go"), "");
  const children = Number((await program.succeeded()).stdout.trim().split("\n").at(-1));
  assert.ok(children > 20, `${children} children`);
  const { result } = summaryOf("io", await llmprof.finished());
  const reads = new Map(result.files.map(({ file, reads }) => [file, reads]));
  const missed = Array.from({ length: children }, (_, i) => i + 1).filter((number) => reads.get(String(number)) !== number);
  assert.deepEqual(missed, [], `of ${children} children`);
});

sampledTest(1, "members: --max-overhead looks at what a child of the target has mapped", {}, async ({ path }) => {
  using folder = temporary();
  // It outlasts what llmprof measures first of a machine that it does not know yet, and not the shell.
  const child = ["setpriv", "--pdeathsig", "KILL", built.paced, "2000", "600"];
  await using target = start(["sh", "-c", '"$@"; true', "sh", ...child], { timeoutMilliseconds: 600_000 });
  await target.saw("running");
  const flags = ["--max-overhead", "0.0000001%", "--duration", "1s"];
  await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { pid: target.pid }, formats: [], flags });
  const { code, stderr } = await llmprof.finished();
  assert.equal(code, 4, stderr);
  assert.match(stderr, /^Tracing would cost more than --max-overhead .* allows/m, "before anything was traced");
});

sampledTest(1, "members: who has the same file mapped and is none of the target is told of", {}, async ({ path }) => {
  using folder = temporary();
  // A file that no other test runs.
  const paced = folder.file("paced");
  Deno.copyFileSync(built.paced, paced);
  await using target = start([paced, "2000", "600"], { timeoutMilliseconds: 600_000 });
  await using other = start([paced, "2000", "600"], { timeoutMilliseconds: 600_000 });
  await Promise.all([target.saw("running"), other.saw("running")]);
  await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { pid: target.pid }, formats: [], flags: ["--duration", "2s"] });
  const { notes } = wholeSummaryOf("operators", await llmprof.finished());
  const text = `process ${other.pid} (paced) has the same paced mapped: it is trapped, too, and does not count`;
  assert.deepEqual(notes.filter((note) => note.includes("mapped")), [text]);
});

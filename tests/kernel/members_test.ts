/** Who belongs to a target, whatever becomes of its processes. */
import assert from "node:assert/strict";
import { start } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { built } from "../setup/programs.ts";
import { startLlmprof, summaryOf } from "./live_run.ts";

sampledTest(0, "members: a process goes on without its main thread, and is watched until it ends", {}, async ({ path }) => {
  using folder = temporary();
  Deno.writeFileSync(folder.file("read"), new Uint8Array(211));
  await using program = start([built.headless, folder.file("read"), folder.file("go")], { timeoutMilliseconds: 60_000 });
  await program.saw("ready");
  await using llmprof = startLlmprof("io", { bpftrace: path, folder, target: { pid: program.pid }, formats: [] });
  await llmprof.saw("Tracing");
  Deno.writeTextFileSync(folder.file("go"), "");
  await program.finished();
  const ended = performance.now();
  const { result } = summaryOf("io", await llmprof.finished());
  assert.equal(result.files.find(({ file }) => file === "read")?.reads, 211);
  assert.ok(performance.now() - ended < 7000, "its end is seen when it comes");
});

import assert from "node:assert/strict";
import { run } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import { runLlmprof } from "./llmprof.ts";

/** Runs the demo in a bash, with redirections behind it; its own exit code comes last on standard output, or standard error of the shell. */
async function demo(redirections: string) {
  using folder = temporary();
  const script = `set -o pipefail; "$@" demo -o t.json ${redirections}`;
  const { code, stdout, stderr } = await run(["bash", "-c", script, "bash", ...llmprof], { cwd: folder.path });
  return { code, stdout, stderr, trace: JSON.parse(Deno.readTextFileSync(folder.file("t.json"))).traceEvents.length };
}

Deno.test("whoever stops reading has seen enough: nothing fails, and the outputs are whole", async () => {
  const { trace } = await demo("");
  for (const redirections of ["| head -1", "2>&1 | head -1", ">&-", "2>&-", ">&- 2>&-", "2>/dev/full", "| true", "2> >(true)"]) {
    const closed = await demo(redirections);
    assert.deepEqual([closed.code, closed.trace], [0, trace], `${redirections}: ${closed.stderr}`);
    assert.doesNotMatch(closed.stdout + closed.stderr, /llmprof failed|fault of llmprof|Whoever read/, redirections);
  }
  assert.match((await demo("| head -1")).stdout, /^Cold start\n$/);
});

Deno.test("a summary that does not fit onto its disk is a failure that says so", async () => {
  const { code, stderr } = await demo("> /dev/full");
  assert.equal(code, 1);
  assert.match(stderr, /^The disk is full\. .*\nWhat was written until then is kept\. Make room/m);
});

Deno.test("a path as long as the kernel takes one, and longer, is refused in a sentence", async () => {
  for (
    const path of [`${"long/".repeat(818)}a.pftrace`, "x".repeat(256) + ".json", `/tmp/${"y".repeat(4096)}.llmprof`, `${"z/".repeat(3000)}t.jsonl`]
  ) {
    for (const args of [["demo", "-o", path], ["operators", "--pid", "1", "-o", path], ["export", path, "-o", "a.json"], ["operators", "--", path]]) {
      const { code, stderr } = await runLlmprof(args);
      assert.match(stderr, /^\S.*\.\n[A-Z].*\n$/m, args[0]);
      assert.doesNotMatch(stderr, /fault of llmprof|^ +at /m);
      assert.ok(code === 2 || (args[0] === "export" && code === 1), `${code}: ${stderr}`);
    }
  }
});

import assert from "node:assert/strict";
import { mustRun, run, start } from "./command.ts";

Deno.test("a command's output, code and signal are kept", async () => {
  const finished = await run(["sh", "-c", "cat; echo problem >&2; exit 7"], { stdin: "text" });
  assert.deepEqual([finished.stdout, finished.stderr, finished.code, finished.timedOut], ["text", "problem\n", 7, false]);
  assert.equal((await run(["sh", "-c", "kill -TERM $$"])).signal, "SIGTERM");
});

Deno.test("a command that runs too long is ended and says so", async () => {
  const finished = await run(["sleep", "100"], { timeoutMilliseconds: 50 });
  assert.equal(finished.timedOut, true);
  assert.equal(finished.signal, "SIGTERM");
});

Deno.test("waiting for a text ends when it appears, or with an error when it never will", async () => {
  await using child = start(["sh", "-c", "echo on; read line; echo off"]);
  await child.saw("on");
  await using brief = start(["echo", "other"]);
  await assert.rejects(brief.saw("text"), /ended with 0 before it printed text/);
});

Deno.test("mustRun throws what the command printed", async () => {
  await assert.rejects(mustRun(["sh", "-c", "echo why >&2; exit 3"]), /ended with 3:\nwhy/);
});

Deno.test("command: the end of a scope does not wait for what the command has started", async () => {
  let begun: number;
  {
    await using shell = start(["sh", "-c", "sleep 60 & echo $!; wait"]);
    await shell.saw(/^\d+$/m);
    begun = Number(shell.stdout());
  }
  Deno.kill(begun, "SIGKILL");
});

import assert from "node:assert/strict";
import { FakeProc } from "../../tests/harness/fake_machine.ts";
import { pending } from "../../tests/harness/pending.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import type { Hands } from "../session/means.ts";
import { findRunning, type TargetOptions } from "./find_target.ts";

Deno.test("find target: who waits for a target, however long, leaves nothing of each look behind", async () => {
  using root = temporary();
  const proc = new FakeProc(root.path);
  proc.process(50, 1, "llmprof");
  let looks = 0;
  const sleep = () => {
    if (++looks === 5) proc.process(100, 1, "server");
    return Promise.resolve();
  };
  const interrupted = pending();
  const hands = { files: proc.files, sleep, self: 50 } as unknown as Hands;
  const found = await findRunning(hands, { comm: "server", wait: true } as TargetOptions, { interrupted: interrupted.promise }, () => {});
  assert.deepEqual([found?.pid, looks, interrupted.waits], [100, 5, 1]);
});

import assert from "node:assert/strict";
import { FakeProc } from "../../tests/harness/fake_machine.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import type { Hands } from "../session/means.ts";
import { findAgain, type TargetOptions } from "./find_target.ts";
import { turnsOf } from "./trace_turns.ts";

Deno.test("turns: a container has in each turn the processes that it has then, until its first is another", async () => {
  using root = temporary();
  const proc = new FakeProc(root.path);
  const inside = (pid: number, startTicks: number) => {
    proc.process(pid, 1, "server", "S", startTicks);
    Deno.writeTextFileSync(`${root.path}/proc/${pid}/cgroup`, `0::/system.slice/docker-${"1".repeat(64)}.scope\n`);
  };
  inside(20, 300);
  inside(21, 310);
  const options = { container: "1111" } as TargetOptions;
  const means = { files: proc.files, self: 50 } as unknown as Hands;
  const first = { type: "running", pid: 20, pids: [20, 21], argv: [] } as const;
  const { target } = await turnsOf(first, () => findAgain(means, options, first), () => assert.fail(), means);
  const pids = async () => (await target())?.pids;
  assert.deepEqual(await pids(), [20, 21]);
  proc.gone(21);
  inside(30, 900);
  assert.deepEqual(await pids(), [20, 30]);
  proc.gone(30);
  inside(20, 1000);
  assert.equal(await pids(), undefined, "its number is another's");
  proc.gone(20);
  assert.equal(await pids(), undefined, "nothing is left of it");
});

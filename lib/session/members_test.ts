import assert from "node:assert/strict";
import { fakeSpawn } from "../../tests/harness/fake_child.ts";
import { FakeProc } from "../../tests/harness/fake_machine.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { Members } from "./members.ts";
import type { Means } from "./means.ts";

Deno.test("members: who was forked since they were known is told, and then whom these have forked before they were told", async () => {
  using root = temporary();
  const proc = new FakeProc(root.path);
  for (const [pid, parent] of [[100, 1], [101, 100], [200, 1]] as const) proc.process(pid, parent, "server");
  const told: (readonly string[])[] = [];
  const read: string[] = [];
  const texts = proc.files.texts.bind(proc.files);
  proc.files.texts = (paths) => (read.push(...paths), texts(paths));
  const spawn = fakeSpawn((child) => {
    told.push(child.options.args!.slice(-2));
    // Known to the programs, because its parent is; and not known, because its parent was not.
    proc.process(103, 100, "server");
    proc.process(104, 102, "server");
    child.ends(0);
  });
  const members = new Members({ files: proc.files, spawn } as unknown as Means, { type: "running", pid: 100, pids: [100], argv: [] }, true);
  const { pids } = await members.filter() as { pids: readonly number[] };
  assert.deepEqual(pids, [100, 101]);
  await members.tellNewcomers(pids, [50, 51]);
  assert.deepEqual(told, []);
  read.length = 0;
  proc.process(102, 101, "server");
  await members.tellNewcomers(pids, [50, 51]);
  assert.deepEqual(told, [["50 51", "102"], ["50 51", "104"]]);
  assert.deepEqual(read.toSorted(), ["/proc/102/stat", "/proc/103/stat", "/proc/104/stat"], "each who has come is read once, and nobody else");
});

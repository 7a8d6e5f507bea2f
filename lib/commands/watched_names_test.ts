import assert from "node:assert/strict";
import { FakeProc } from "../../tests/harness/fake_machine.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { WatchedNames } from "./watched_names.ts";

Deno.test("names: a process is asked when it is new and once more, and again when another has its number", async () => {
  using root = temporary();
  const proc = new FakeProc(root.path);
  const call = (pid: number, name: string) => Deno.writeTextFileSync(`${root.path}/proc/${pid}/comm`, `${name}\n`);
  let members = [100, 200];
  const names = new WatchedNames(proc.files, () => Promise.resolve(members));
  const look = async () => (await names.look()).map((fact) => fact.fact === "names" && [fact.pid, fact.name]);
  proc.process(100, 1, "sh");
  call(100, "sh");
  assert.deepEqual(await look(), [[100, "sh"]]);
  call(100, "node");
  proc.process(200, 1, "x");
  call(200, "a\nb");
  assert.deepEqual(await look(), [[100, "node"], [200, "a\nb"]]);
  call(100, "other");
  assert.deepEqual(await look(), []);
  members = [200];
  assert.deepEqual(await look(), []);
  members = [100, 200];
  assert.deepEqual(await look(), [[100, "other"]]);
});

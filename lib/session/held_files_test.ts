import assert from "node:assert/strict";
import { FakeProc } from "../../tests/harness/fake_machine.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { ggufHeader } from "../../tests/workloads/gguf.ts";
import type { Fact } from "../events/fact.ts";
import { fileKey, type Mapping, parseMaps } from "../target/maps.ts";
import { HeldFiles } from "./held_files.ts";

const MODEL = ggufHeader({ name: { text: "x" } }, [{ name: "a", extents: [1], type: "f32" }]);
const DEVICE = 8 * 2 ** 20 + 2;
const event = (length: number, prot: number, inode = 9, record = "files/access.map") => (
  { at: 0, stream: "s", record, pid: 100, tid: 100, values: [0, 0x1000, length, prot, 0, DEVICE, inode, "blob"] }
);

Deno.test("held files: of a running process all, with the tensors of those that hold a model, whatever their names are", async () => {
  using root = temporary();
  const proc = new FakeProc(root.path), facts: Fact[] = [];
  proc.process(100, 1, "server");
  proc.map(100, "/opt/libllama.so", 5, new Uint8Array(64));
  proc.data(100, "/models/0123abcd", 9, 2 << 20, MODEL);
  proc.data(100, "/models/notes", 10, 2 << 20, new Uint8Array(64));
  const files = new HeldFiles(proc.files, (fact) => void facts.push(fact));
  await files.present([100, 200]);
  const [mapped, tensors, ...others] = facts;
  assert.deepEqual(mapped?.fact === "mapped" && mapped.files.map(({ file, inode, offset }) => [file, inode, offset]), [
    ["0123abcd", 9, 0],
    ["notes", 10, 0],
    ["libllama.so", 5, 0],
  ]);
  assert.deepEqual(tensors, { fact: "tensors", dev: DEVICE, inode: 9, tensors: [{ name: "a", offset: MODEL.length }] });
  await files.look(100, files.firstTold(event(2 << 20, 1))!);
  assert.deepEqual(others, []);
  assert.equal(facts.length, 2);
});

Deno.test("held files: of processes that run another program what that has mapped, and which of it is code; nothing of one that has ended", async () => {
  using root = temporary();
  const proc = new FakeProc(root.path), facts: Fact[] = [];
  proc.process(100, 1, "server");
  proc.map(100, "/opt/libllama.so", 5, new Uint8Array(64));
  proc.data(100, "/models/0123abcd", 9, 2 << 20, MODEL);
  await new HeldFiles(proc.files, (fact) => void facts.push(fact)).began([200, 100]);
  const told = facts.map((fact) => fact.fact === "mapped" && [fact.pid, fact.files.map(({ file, isCode }) => [file, isCode ?? false])]);
  assert.deepEqual(told, [[100, [["0123abcd", false], ["libllama.so", true]]]]);
});

Deno.test("held files: an event asks for a look once for each file that may be a model", () => {
  const files = new HeldFiles(new FakeProc("/nowhere").files, () => {});
  assert.ok(!files.firstTold(event(4096, 1)), "small");
  assert.ok(!files.firstTold(event(2 << 20, 5)), "code");
  assert.ok(!files.firstTold(event(2 << 20, 1, 9, "files/access.unmap")));
  const told = [event(2 << 20, 1), event(2 << 20, 1), event(2 << 20, 3, 10)].map((one) => files.firstTold(one));
  assert.deepEqual(told.map((mapping) => mapping && fileKey(mapping)), [`${DEVICE}:9`, null, `${DEVICE}:10`]);
});

Deno.test("held files: tensors are those of the file that an event names, where the kernel lists the one below an overlay", async () => {
  using root = temporary();
  const proc = new FakeProc(root.path), overlay = DEVICE + 30;
  proc.process(100, 1, "server");
  proc.data(100, "/models/0123abcd", 9, 2 << 20, MODEL);
  const [{ start }] = parseMaps((await proc.files.text("/proc/100/maps"))!) as [Mapping];
  const dev = async (at: number) => {
    const facts: Fact[] = [], files = new HeldFiles(proc.files, (fact) => void facts.push(fact));
    const told = event(2 << 20, 1);
    await files.look(100, files.firstTold({ ...told, values: told.values.with(1, at).with(5, overlay) })!);
    return facts.map((fact) => fact.fact === "tensors" && fact.dev);
  };
  assert.deepEqual(await dev(Number(start)), [overlay]);
  // Another file of that inode.
  assert.deepEqual(await dev(0x1000), [DEVICE]);
});

Deno.test("held files: who had let go of a file when it was looked at is looked at again when it maps it again, some times", async () => {
  using root = temporary();
  const proc = new FakeProc(root.path), facts: Fact[] = [];
  proc.process(100, 1, "server");
  const files = new HeldFiles(proc.files, (fact) => void facts.push(fact));
  let looks = 0;
  const maps = async () => {
    const file = files.firstTold(event(2 << 20, 1));
    if (file === null) return;
    looks++;
    await files.look(100, file);
  };
  await maps();
  proc.data(100, "/models/0123abcd", 9, 2 << 20, MODEL);
  await maps();
  assert.deepEqual(facts, [{ fact: "tensors", dev: DEVICE, inode: 9, tensors: [{ name: "a", offset: MODEL.length }] }]);
  proc.unmap(100);
  await maps();
  assert.equal(looks, 2, "its tensors are known");
  const other = new HeldFiles(proc.files, () => {});
  let again = 0;
  for (let file; (file = other.firstTold(event(2 << 20, 1))) !== null; again++) await other.look(100, file);
  assert.equal(again, 8);
});

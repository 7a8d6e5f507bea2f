import assert from "node:assert/strict";
import { FakeProc } from "../../tests/harness/fake_machine.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import type { Fact } from "../events/fact.ts";
import { Pseudonyms } from "../timeline/pseudonyms.ts";
import { Bystanders } from "./bystanders.ts";

/** What is told when process 100 is the target, and probes stand in these files. */
async function told(proc: FakeProc, watched: ReadonlyMap<string, string>, isElected = true, pseudonyms?: Pseudonyms): Promise<string[]> {
  const texts: string[] = [];
  const session = {
    pid: isElected ? 100 : undefined,
    watched: new Map(watched),
    members: () => Promise.resolve([100]),
    tell: (plain: Fact) => {
      const fact = pseudonyms?.fact(plain) ?? plain;
      if (fact.fact === "note") texts.push(fact.text);
    },
  };
  const bystanders = new Bystanders(proc.files, () => session);
  await Promise.all([bystanders.look(), bystanders.look()]);
  assert.deepEqual(await bystanders.conclude(), []);
  return texts;
}

const library = new Uint8Array();
const inode = (number: number) => `${8 * 2 ** 20 + 2}:${number}`;

Deno.test("bystanders: who has the same file mapped, and is no member of the target, is told of once", async () => {
  using root = temporary();
  const proc = new FakeProc(root.path);
  for (const pid of [100, 4711, 4712]) proc.process(pid, 1, "llama-server");
  proc.map(100, "/opt/libggml-cpu.so", 6, library);
  proc.map(4711, "/srv/libggml-cpu.so", 6, library);
  proc.map(4712, "/other/libggml-cpu.so", 7, library);
  assert.deepEqual(await told(proc, new Map([[inode(6), "libggml-cpu.so"]])), [
    "process 4711 (llama-server) has the same libggml-cpu.so mapped: it is trapped, too, and does not count",
  ]);
  assert.deepEqual(await told(proc, new Map()), []);
  assert.deepEqual(await told(proc, new Map([[inode(6), "libggml-cpu.so"]]), false), []);
  assert.deepEqual(await told(proc, new Map([[inode(8), "libggml-cpu.so"]])), []);
});

Deno.test("bystanders: of many the first three are named, with all files that they share", async () => {
  using root = temporary();
  const proc = new FakeProc(root.path);
  for (const pid of [100, 201, 202, 203, 204, 205]) {
    proc.process(pid, 1, "python");
    proc.map(pid, "/opt/libllama.so", 5, library);
  }
  proc.map(203, "/opt/libggml-cpu.so", 6, library);
  assert.deepEqual(await told(proc, new Map([[inode(5), "libllama.so"], [inode(6), "libggml-cpu.so"]])), [
    "processes 201 (python), 202 (python), 203 (python) and 2 more have the same libllama.so and libggml-cpu.so mapped: " +
    "they are trapped, too, and do not count",
  ]);
});

Deno.test("bystanders: what they call themselves is hidden where names are", async () => {
  using root = temporary();
  const proc = new FakeProc(root.path);
  for (const pid of [100, 201, 202]) {
    proc.process(pid, 1, pid === 201 ? "geheim" : "geheim srv");
    proc.map(pid, "/opt/libllama.so", 5, library);
  }
  assert.deepEqual(await told(proc, new Map([[inode(5), "libllama.so"]]), true, new Pseudonyms()), [
    "processes 201 (name-1), 202 (name-2) have the same libllama.so mapped: they are trapped, too, and do not count",
  ]);
});

import assert from "node:assert/strict";
import { FakeProc } from "../../tests/harness/fake_machine.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { engineOf } from "./engine.ts";

Deno.test("engine: llama.cpp where a process that was named, or one that it has started, has mapped it; PyTorch where only that is there", async () => {
  using root = temporary();
  const proc = new FakeProc(root.path);
  const add = (pid: number, ppid: number, library?: string) => {
    proc.process(pid, ppid, "python3");
    if (library !== undefined) proc.map(pid, `/opt/${library}`, pid, new Uint8Array());
  };
  // A server that imports torch and starts another one.
  add(100, 1, "libtorch_cpu.so");
  add(101, 100, "libllama.so");
  // A launcher.
  add(200, 1);
  add(201, 200, "libtorch_cpu.so");
  add(300, 1, "libggml-base.so.0");
  add(301, 300, "libtorch_cpu.so");
  add(400, 1);
  const engines = (tree: boolean) => Promise.all([100, 200, 300, 400].map((pid) => engineOf(proc.files, [pid], tree)));
  assert.deepEqual(await engines(true), ["ggml", "torch", "ggml", "ggml"]);
  assert.deepEqual(await engines(false), ["torch", "ggml", "ggml", "ggml"]);
});

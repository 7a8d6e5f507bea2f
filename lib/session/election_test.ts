import assert from "node:assert/strict";
import { FolderFiles } from "../../tests/harness/folder_files.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { isInference, mappedByHelpers, rootOf } from "./election.ts";

Deno.test("election: weights that are opened or mapped, and libraries of inference that are mapped, but for ggml's", () => {
  const event = (record: string, name: string) => isInference({ at: 0, stream: "process", record, pid: 1, tid: 1, values: [0, 0, name] });
  for (const name of ["small.gguf", "Model-00001-of-00003.SAFETENSORS", "pytorch_model.pt", "x.onnx"]) {
    assert.ok(event("files/access.open", name) && event("files/access.map", name), name);
  }
  const cut = `${`sha256-${"0a".repeat(32)}`.slice(0, 64)}…`;
  const inCache = `/hub/models--a--b/blobs/${"0a".repeat(32)}`;
  for (const name of ["ggml-tiny.en.bin", "openvino_model.bin", "openvino_language_model.bin", cut, inCache]) {
    assert.ok(event("files/access.open", name), name);
  }
  for (const name of ["libtorch_cpu.so", "libnvinfer.so.10", "libonnxruntime.so.1.20", "libopenvino_intel_cpu_plugin.so"]) {
    assert.ok(event("files/access.map", name), name);
    // Whoever only opens a library may be a package manager.
    assert.ok(!event("files/access.open", name), name);
  }
  const numbers = ["0a".repeat(20), "0a".repeat(32), `${"0a".repeat(32)}…`];
  for (const name of [...numbers, "notes.txt", "gguf", "x.gguf.part", "libc.so.6", "libllamas.txt", "libopenvino.so.2520", "openvino_notes.bin"]) {
    assert.ok(!event("files/access.map", name), name);
  }
  // A helper maps these, too.
  const map = (name: string) => ({ at: 0, stream: "process", record: "files/access.map", pid: 1, tid: 1, values: [0, 0, name] });
  for (const name of ["libllama.so", "libggml-cpu-haswell.so", "libggml-base.so"]) {
    assert.ok(!event("files/access.map", name), name);
    assert.equal(mappedByHelpers(map(name)), name);
  }
  assert.equal(mappedByHelpers(map("libtorch_cpu.so")), null);
  assert.ok(
    !event("files/access.open", "distutils-precedence.pth") && !event("files/access.read", "small.gguf") &&
      !isInference({ at: 0, stream: "s", record: "process/life.task", pid: 1, tid: 1, values: [2, 0] }),
  );
});

Deno.test("election: the uppermost ancestor that started after llmprof and does more than start others", async () => {
  using root = temporary();
  const add = (pid: number, ppid: number, comm: string, start: number) => {
    Deno.mkdirSync(root.file(`proc/${pid}`), { recursive: true });
    Deno.writeTextFileSync(root.file(`proc/${pid}/stat`), `${pid} (${comm}) S ${ppid} 1 1 0 -1 0 1 0 1 0 1 2 0 0 20 0 1 0 ${start} 6 7\n`);
  };
  add(1, 0, "init", 0);
  add(10, 1, "bash", 10);
  add(50, 10, "llmprof", 1000);
  add(60, 10, "node", 1100);
  add(61, 60, "node", 1200);
  add(70, 10, "timeout", 1100);
  add(71, 70, "serve", 1200);
  add(80, 1, "old server", 500);
  add(81, 80, "worker", 1300);
  const forContainers = [
    "conmon",
    "conmonrs",
    "containerd-shim",
    "docker-init",
    "podman-init",
    "catatonit",
    "dumb-init",
    "tini",
    "tini-static",
    "runc",
    "crun",
  ];
  for (const [i, name] of forContainers.entries()) {
    add(100 + 10 * i, 1, name, 1100);
    add(101 + 10 * i, 100 + 10 * i, "serve", 1200);
    add(102 + 10 * i, 101 + 10 * i, "worker", 1300);
  }
  const files = new FolderFiles(root.path);
  assert.equal(await rootOf(files, 61, 50), 60, "a test process of an engine belongs to the engine");
  assert.equal(await rootOf(files, 71, 50), 71, "a program that only starts others is no beginning");
  for (const [i, name] of forContainers.entries()) {
    assert.equal(await rootOf(files, 102 + 10 * i, 50), 101 + 10 * i, `${name} is no part of what runs in a container`);
  }
  assert.equal(await rootOf(files, 81, 50), 81, "what ran before is no part of this start");
  assert.equal(await rootOf(files, 99, 50), 99, "a process that is gone stands for itself");
});

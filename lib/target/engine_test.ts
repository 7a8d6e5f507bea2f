import assert from "node:assert/strict";
import { FolderFiles } from "../../tests/harness/folder_files.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { findEngine, hasOperators, quantisationOf } from "./engine.ts";

/** Each line: mebibytes and path. */
function machine(
  root: string,
  processes: Readonly<Record<number, { readonly maps: readonly string[]; readonly argv?: readonly string[] }>>,
): FolderFiles {
  for (const [pid, { maps, argv = ["server"] }] of Object.entries(processes)) {
    const proc = `${root}/proc/${pid}`;
    Deno.mkdirSync(`${proc}/root`, { recursive: true });
    const lines = maps.map((line, i) => {
      const [, size, path] = /^(\d+) (.*)$/.exec(line)!;
      const from = (i + 1) * 0x100000000;
      return `${from.toString(16)}-${(from + Number(size) * 2 ** 20).toString(16)} r-xp 00000000 08:01 ${i + 1}  ${path}`;
    });
    Deno.writeTextFileSync(`${proc}/maps`, `${lines.join("\n")}\n`);
    Deno.writeTextFileSync(`${proc}/cmdline`, `${argv.join("\0")}\0`);
    Deno.writeTextFileSync(`${proc}/status`, "Name:\tserver\nThreads:\t17\nCpus_allowed:\tff\nCpus_allowed_list:\t0-3,8\n");
  }
  return new FolderFiles(root);
}

Deno.test("engine: of several processes the one that computes, with its version, its largest model and what that is called", async () => {
  using folder = temporary();
  const files = machine(folder.path, {
    1: { maps: ["1 /bin/sh"] },
    2: { maps: ["1 /opt/libggml-base.so", "5 /opt/libllama.so.0.0.5760", "9 /models/draft.Q8_0.gguf", "700 /models/big-Q4_K_M.gguf"] },
  });
  assert.deepEqual(await findEngine(files, [1, 2, 3]), {
    engine: "llama.cpp",
    version: "0.0.5760",
    model: "big-Q4_K_M.gguf",
    quantisation: "Q4_K_M",
    threads: 17,
    affinity: "0-3,8",
  });
});

Deno.test("engine: PyTorch says its version in a file; a model that is read and not mapped stands on the command line", async () => {
  using folder = temporary();
  const torch = "/venv/lib/python3/site-packages/torch";
  const argv = ["python3", "serve.py", "--model=/models/llama-7b-AWQ.safetensors"];
  const files = machine(folder.path, { 5: { maps: [`300 ${torch}/lib/libtorch_cpu.so`], argv } });
  Deno.mkdirSync(`${folder.path}/proc/5/root${torch}`, { recursive: true });
  Deno.writeTextFileSync(`${folder.path}/proc/5/root${torch}/version.py`, "from x import y\n__version__ = '2.13.0+cu130'\ndebug = False\n");
  // Whose root that is may have put a pipe there, or a link to what has no end.
  const { text } = FolderFiles.prototype;
  files.text = (path) => path.startsWith("/proc/5/root") ? Promise.reject(new Error(`${path} is read to its end`)) : text.call(files, path);
  const { engine, version, model, quantisation } = (await findEngine(files, [5]))!;
  assert.deepEqual([engine, version, model, quantisation], ["PyTorch", "2.13.0+cu130", "llama-7b-AWQ.safetensors", "AWQ"]);
});

Deno.test("engine: a distribution's PyTorch has its version in the names of its libraries", async () => {
  using folder = temporary();
  const files = machine(folder.path, { 5: { maps: ["300 /usr/lib/x86_64-linux-gnu/libtorch_cpu.so.1.13.0"] } });
  const { engine, version } = (await findEngine(files, [5]))!;
  assert.deepEqual([engine, version], ["PyTorch", "1.13.0"]);
});

Deno.test("engine: OpenVINO is who has made a device ready for it, whoever asks it to compute", async () => {
  using folder = temporary();
  const files = machine(folder.path, {
    5: { maps: ["300 /venv/torch/lib/libtorch_cpu.so", "9 /venv/libs/libopenvino_intel_cpu_plugin.so", "700 /models/a/openvino_model.bin"] },
    6: { maps: ["1 /usr/lib/libopenvino.so.2520"] },
  });
  const { engine, version, model } = (await findEngine(files, [6, 5]))!;
  assert.deepEqual([engine, version, model], ["OpenVINO", null, "openvino_model.bin"]);
  assert.ok(!hasOperators(engine));
});

Deno.test("engine: a word that ends as a model's name does, and holds more, names none", async () => {
  using folder = temporary();
  const maps = ["1 /usr/lib/libllama.so"];
  const modelOf = async (pid: number, ...argv: string[]) => (await findEngine(machine(folder.path, { [pid]: { maps, argv } }), [pid]))!.model;
  assert.equal(await modelOf(1, "sh", "-c", "llama-cli -p 'geheim' -m /models/m.gguf"), null);
  assert.equal(await modelOf(2, "sh", "-c", "llama-cli -p geheim/a -m m.gguf", "m.gguf"), "m.gguf");
  assert.equal(await modelOf(3, "llama-cli", "--prompt='geheim'/m.gguf", "-m", "/my models/m.gguf"), null);
});

Deno.test("engine: a model in Hugging Face's cache is called as on the command line, or by its folder there", async () => {
  using folder = temporary();
  const blob = (name: string) => `9 /root/.cache/huggingface/hub/models--${name}/blobs/${"0a".repeat(32)}`;
  const found = async (pid: number, file: string, ...argv: string[]) => {
    const { model, quantisation } = (await findEngine(machine(folder.path, { [pid]: { maps: [file], argv } }), [pid]))!;
    return [model, quantisation];
  };
  assert.deepEqual(await found(1, blob("unsloth--Qwen3-8B-GGUF"), "llama-server", "-hf", "unsloth/Qwen3-8B-GGUF:UD-Q4_K_XL"), [
    "Qwen3-8B-GGUF",
    "Q4_K_XL",
  ]);
  assert.deepEqual(await found(2, blob("a--b-AWQ"), "vllm", "serve", "a/b-AWQ", "--api-key", "0b".repeat(32)), ["b-AWQ", "AWQ"]);
  assert.deepEqual(await found(3, blob("gpt2"), "llama-server", "-m", "/hub/models--gpt2/snapshots/1/m-Q8_0.gguf"), ["m-Q8_0.gguf", "Q8_0"]);
  assert.deepEqual(await found(4, blob("a--b"), "llama-server", "-hf", "a/b"), ["b", null]);
});

Deno.test("engine: what is no engine has threads and processors, and what is gone is nothing", async () => {
  using folder = temporary();
  const files = machine(folder.path, { 5: { maps: ["1 /bin/sleep", "1 /usr/lib/libfoo.so.1.2"] } });
  const none = { engine: null, version: null, model: null, quantisation: null };
  assert.deepEqual(await findEngine(files, [5]), { ...none, threads: 17, affinity: "0-3,8" });
  assert.equal(await findEngine(files, [6]), null);
  assert.equal(await findEngine(files, []), null);
});

Deno.test("engine: quantisations by the names of files", () => {
  const names = {
    "m-Q4_K_M.gguf": "Q4_K_M",
    "m.iq2_xxs.gguf": "IQ2_XXS",
    "model-bf16-00001-of-00002.gguf": "BF16",
    "Qwen3.6-35B-A3B-MXFP4_MOE.gguf": "MXFP4_MOE",
    "Qwen3.6-27B-NVFP4.gguf": "NVFP4",
    "Qwen2-7B.gguf": null,
    "f16.gguf": "F16",
  };
  for (const [name, quantisation] of Object.entries(names)) assert.equal(quantisationOf(name), quantisation, name);
});

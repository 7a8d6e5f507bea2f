import assert from "node:assert/strict";
import { makeElf } from "../../tests/harness/elf.ts";
import { type FakeBpftrace, FakeTime, spawnBpftraces } from "../../tests/harness/fake_bpftrace.ts";
import { capable, FakeProc, FakeSymbols } from "../../tests/harness/fake_machine.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { graph } from "../../probes/ggml/graph.ts";
import { ops } from "../../probes/ggml/ops.ts";
import { sums } from "../../probes/ggml/sums.ts";
import { mappingGate } from "../../probes/gate/mapping.ts";
import { calls as gpu } from "../../probes/gpu/calls.ts";
import { calls } from "../../probes/llama/calls.ts";
import { life } from "../../probes/process/life.ts";
import { uncalibrated } from "../machine/calibration.ts";
import type { Detail } from "../programs/detail.ts";
import type { Probe } from "../programs/probe.ts";
import { lookAt } from "./look.ts";
import type { Means } from "./means.ts";
import { hitCost } from "./prediction.ts";

/** Process 100 is looked at, with its children; `looking`: what happens in the look's second, to each bpftrace. */
function world(root: string, looking: (bpftrace: FakeBpftrace, text: string) => void = () => {}) {
  const proc = new FakeProc(root);
  proc.process(50, 1, "llmprof");
  proc.process(100, 1, "engine");
  const libllama = makeElf({ llama_decode: "55", llama_init_from_model: "55" });
  proc.map(100, "/opt/libllama.so", 5, libllama);
  const time = new FakeTime();
  const bpftraces: { readonly bpftrace: FakeBpftrace; readonly text: string }[] = [];
  const means: Partial<Means> = {
    files: proc.files,
    machine: capable(undefined, [life, mappingGate({ prefixes: [] })].flatMap(({ tracepoints = [] }) => tracepoints)),
    symbols: new FakeSymbols(),
    spawn: spawnBpftraces(time, (bpftrace, text) => void bpftraces.push({ bpftrace, text })),
    sleep: (ms) => {
      if (ms === 1000) { for (const { bpftrace, text } of bpftraces) looking(bpftrace, text); }
      return new Promise((resolve) => ms < 3000 && setTimeout(resolve, 1));
    },
    monotonic: time.monotonic,
    origin: () => 1000,
    self: 50,
  };
  const look = (detail: Detail, probes: readonly Probe[]) => {
    const target = { type: "running", pid: 100, pids: [100], argv: ["engine"] } as const;
    return lookAt(means as Means, target, probes, uncalibrated, { tree: true, detail, bufferPages: 64, stop: new Promise(() => {}) });
  };
  return { proc, bpftraces, look };
}

Deno.test("look: a library that any process may map is not waited for, and nobody is stopped who maps it", async () => {
  using root = temporary();
  const { bpftraces, look } = world(root.path);
  const { predicted } = (await look("token", [life, calls, gpu.cuda]))!;
  assert.deepEqual([...predicted.keys()], ["token"]);
  assert.equal(bpftraces.length, 1);
  const [{ text }] = bpftraces as [typeof bpftraces[number]];
  assert.match(text, /llama_decode/);
  assert.doesNotMatch(text, /signal\(|cuInit/);
});

Deno.test("look: operators are priced once, however many copies of their library the target's processes have", async () => {
  const nodes = 300, threads = 4;
  for (const copies of [1, 2]) {
    using root = temporary();
    const { proc, look } = world(root.path, (bpftrace, text) => {
      const kind = Number(/\$nodes = [^]*?printf\("(\d+) /.exec(text)?.[1]);
      if (!kind) return;
      bpftrace.event(kind, 100, nodes, threads);
      bpftrace.event(kind + 1, 100);
      // A second of CPU time.
      proc.process(100, 1, "engine", "S", 100, 250);
    });
    const libggml = makeElf({ ggml_graph_compute: "55", ggml_cpu_extra_compute_forward: "0f 1f 44 00 00" });
    for (let i = 0; i < copies; i++) {
      if (i > 0) proc.process(100 + i, 100, "engine");
      proc.map(100 + i, "/opt/libggml-cpu.so", 6 + i, libggml);
    }
    const { predicted } = (await look("op", [life, graph, ops, sums]))!;
    const [onGraph, onOperator] = [["shared with its return", "emulated and back"], ["nop"]].map((costs) =>
      costs.reduce((sum, cost) => sum + hitCost(cost, uncalibrated), 0)
    );
    for (const detail of ["op", "sum"] as const) {
      const ratio = predicted.get(detail)! / predicted.get("graph")!;
      assert.ok(Math.abs(ratio / (1 + nodes * threads * onOperator! / onGraph!) - 1) < 1e-9, `${detail}, copies ${copies}: ${ratio}`);
    }
  }
});

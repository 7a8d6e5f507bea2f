import assert from "node:assert/strict";
import { makeElf } from "../../tests/harness/elf.ts";
import { type FakeBpftrace, FakeTime, spawnBpftraces } from "../../tests/harness/fake_bpftrace.ts";
import { capable, FakeProc, FakeSymbols } from "../../tests/harness/fake_machine.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { mappingGate } from "../../probes/gate/mapping.ts";
import { calls as gpu } from "../../probes/gpu/calls.ts";
import { calls } from "../../probes/llama/calls.ts";
import { life } from "../../probes/process/life.ts";
import { uncalibrated } from "../machine/calibration.ts";
import { lookAt } from "./look.ts";
import type { Means } from "./means.ts";

Deno.test("look: a library that any process may map is not waited for, and nobody is stopped who maps it", async () => {
  using root = temporary();
  const proc = new FakeProc(root.path);
  proc.process(50, 1, "llmprof");
  proc.process(100, 1, "engine");
  proc.map(100, "/opt/libllama.so", 5, makeElf({ llama_decode: "55" }));
  const time = new FakeTime();
  const texts: string[] = [];
  const means: Partial<Means> = {
    files: proc.files,
    machine: capable(undefined, [life, mappingGate({ prefixes: [] })].flatMap(({ tracepoints = [] }) => tracepoints)),
    symbols: new FakeSymbols(),
    spawn: spawnBpftraces(time, (_: FakeBpftrace, text) => void texts.push(text)),
    sleep: (ms) => new Promise((resolve) => ms < 3000 && setTimeout(resolve, 1)),
    monotonic: time.monotonic,
    origin: 1000,
    self: 50,
  };
  const options = { tree: true, detail: "token", bufferPages: 64, stop: new Promise(() => {}) } as const;
  const target = { type: "running", pid: 100, pids: [100], argv: ["engine"] } as const;
  const look = await lookAt(means as Means, target, [life, calls, gpu.cuda], uncalibrated, options);
  assert.deepEqual([...look!.predicted.keys()], ["token"]);
  assert.equal(texts.length, 1);
  assert.match(texts[0]!, /llama_decode/);
  assert.doesNotMatch(texts[0]!, /signal\(|cuInit/);
});

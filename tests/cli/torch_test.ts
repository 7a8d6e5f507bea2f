/** What is said to who traces a process that computes with PyTorch: see tests/kernel/torch_test.ts for what is seen of it. */
import assert from "node:assert/strict";
import { start } from "../harness/command.ts";
import { kernelTest } from "../harness/kernel.ts";
import { debianPython } from "../setup/torch.ts";
import { runLlmprof } from "./llmprof.ts";

const idle = [debianPython, "-c", "import time, torch; print('ready', flush=True); time.sleep(600)"];

kernelTest("PyTorch: what it has no answer for is refused; one that computes nothing is left after the time asked for", {
  bpftrace: true,
  torch: true,
}, async () => {
  await using target = start(idle, { timeoutMilliseconds: 600_000 });
  await target.saw("ready");
  const operators = (...args: string[]) => runLlmprof(["operators", "--pid", String(target.pid), "--no-output", "--learn", "2s", ...args]);
  for (const given of [["--detail", "sum"], ["--tokens", "5"], ["--slower-than", "2x"], ["--between"], ["--max-overhead", "2%"]]) {
    const { code, stderr } = await operators(...given);
    assert.match(stderr, new RegExp(`^${given[0]}.* is not for a process that computes with PyTorch\\..*\\nTry: llmprof operators`));
    assert.equal(code, 2);
  }
  const dry = await operators("--dry-run");
  assert.deepEqual([dry.code, dry.stderr], [0, ""]);
  assert.match(dry.stdout, /getStepCallbacksUnlessEmpty\w+.*\(torch\/learn; [^]*# A run learns with this which operators/);
  const { code, stdout, stderr } = await operators("--duration", "1s", "--summary", "json");
  assert.match(stderr, /^Learning which operators process \d+ runs\. Ctrl-C ends\.$/m);
  assert.equal(code, 0);
  const { result } = JSON.parse(stdout);
  assert.deepEqual([result.engine, result.windows.count, result.operators], ["torch", 0, []]);
});

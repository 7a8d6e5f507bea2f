import assert from "node:assert/strict";
import { TestSpans } from "../../tests/harness/spans.ts";
import type { GpuFileUse } from "../events/gpu.ts";
import { GpuNodes } from "./gpu_nodes.ts";

const TARGET = 7, OTHER = 9;

type Done = readonly [pid: number, what: GpuFileUse["what"] | "exec" | "fork" | "exit", device?: string, errno?: number];

/** Whether what the other process asks of a node now may concern the target's GPU. */
function isShared(device: string, ...done: readonly Done[]): boolean {
  const nodes = new GpuNodes();
  for (const [pid, what, device = "", errno = 0] of done) {
    if (what === "exec") nodes.life(new TestSpans(pid).exec(0));
    else if (what === "exit") nodes.life(new TestSpans(pid).exit(0));
    else if (what === "fork") nodes.life(new TestSpans(pid).fork(0, TARGET + 1));
    else nodes.used({ device, pid, name: "", isTarget: pid !== OTHER, what, errno });
  }
  return nodes.isShared(device, OTHER);
}

const opens = (pid: number, ...devices: readonly string[]) => devices.map((device): Done => [pid, "open", device]);

Deno.test("gpu nodes: each number is a GPU: who asks one is at no other", () => {
  assert.equal(isShared("nvidia0", ...opens(TARGET, "nvidia0")), true);
  assert.equal(isShared("nvidia1", ...opens(TARGET, "nvidiactl", "nvidia0")), false);
  assert.equal(isShared("nvidia1", [TARGET, "ioctl", "nvidia0"]), false, "opened before anybody looked");
  assert.equal(isShared("renderD129", ...opens(TARGET, "renderD128")), false);
  assert.equal(isShared("nvidia1", ...opens(TARGET, "nvidia0"), ...opens(TARGET + 1, "nvidia1")), true, "two processes of the target");
});

Deno.test("gpu nodes: what is everybody's is asked for the GPUs that the process holds", () => {
  const target = opens(TARGET, "nvidiactl", "nvidia0");
  assert.equal(isShared("nvidiactl", ...target, ...opens(OTHER, "nvidiactl", "nvidia1")), false);
  assert.equal(isShared("nvidia-uvm", ...target, ...opens(OTHER, "nvidiactl", "nvidia1", "nvidia0")), true);
  assert.equal(isShared("nvidiactl", ...target, ...opens(OTHER, "nvidiactl")), false, "it has none yet");
  assert.equal(isShared("nvidiactl", ...target, ...opens(OTHER, "nvidia0", "nvidia0", "nvidia1"), [OTHER, "close", "nvidia0"]), true);
  const closes: Done[] = [[OTHER, "close", "nvidia0"], [OTHER, "close", "nvidia0"]];
  assert.equal(isShared("nvidiactl", ...target, ...opens(OTHER, "nvidia0", "nvidia0", "nvidia1"), ...closes), false);
  assert.equal(isShared("nvidiactl", ...target, [OTHER, "open", "nvidia0", 13], ...opens(OTHER, "nvidia1")), false, "it was refused");
});

Deno.test("gpu nodes: a GPU that is not known may be any", () => {
  const target = opens(TARGET, "nvidia0");
  assert.equal(isShared("nvidiactl", ...target), true, "it was opened before anybody looked");
  assert.equal(isShared("nvidia1"), true, "nor is the target known to have opened anything");
  assert.equal(isShared("nvidia1", [TARGET, "ioctl", "nvidiactl"]), true);
  assert.equal(isShared("nvidia1", ...target, [TARGET + 1, "ioctl", "nvidiactl"]), true, "of one of two processes");
  assert.equal(isShared("renderD129", ...target), true, "a node of another kind");
  assert.equal(isShared("nvidiactl", ...target, ...opens(OTHER, "path-2")), true, "its name is hidden");
});

Deno.test("gpu nodes: a target that was seen to begin has no GPU until it opens one; its child has what it had", () => {
  assert.equal(isShared("nvidia1", [TARGET, "exec"]), false);
  assert.equal(isShared("nvidia1", [TARGET, "exec"], ...opens(TARGET, "path-1")), true, "its name is hidden");
  assert.equal(isShared("nvidia1", [TARGET, "exec"], ...opens(TARGET, "nvidia1"), [TARGET, "exec"]), false);
  assert.equal(isShared("nvidia1", [TARGET, "exec"], [TARGET, "fork"], ...opens(TARGET + 1, "nvidia1")), true);
  assert.equal(isShared("nvidia1", [TARGET, "fork"], [TARGET + 1, "exec"]), true, "what ran before may have any");
  const inherited: Done[] = [[TARGET, "exec"], ...opens(TARGET, "nvidia1"), [TARGET, "fork"], [TARGET, "exec"], [TARGET + 1, "map", "nvidiactl"]];
  assert.equal(isShared("nvidia1", ...inherited), true);
  assert.equal(isShared("nvidia1", ...opens(TARGET, "nvidia0"), ...opens(TARGET + 1, "nvidia1"), [TARGET + 1, "exit"]), false);
});

/**
 * Makes what `llmprof demo --live` needs and prints `--live` when it is all there: for the task `demo`. Otherwise it prints nothing, and the
 * demo replays the recording that is part of llmprof.
 */
import { model } from "../workloads/model.ts";
import { bpftrace } from "./bpftrace.ts";
import { engine } from "./engine.ts";
import { CannotSetUp, type Part } from "./part.ts";
import { setUp } from "./setup.ts";

const workload: Part = {
  name: "model",
  what: "a synthetic model of 113 MB",
  // Writing it looks whether it is there.
  isThere: () => false,
  make: () => Promise.resolve(void model("small")),
};

if (import.meta.main) {
  let live = Deno.uid() === 0;
  if (!live) console.error("setup: not root, so nothing can be traced here: the demo replays a recording");
  for (const part of live ? [engine, bpftrace, workload] : []) {
    try {
      await setUp(part);
    } catch (error) {
      if (!(error instanceof CannotSetUp)) throw error;
      console.error(`setup: ${part.name}: cannot be had here. ${error.message}`);
      live = false;
    }
  }
  if (live) console.log("--live");
}

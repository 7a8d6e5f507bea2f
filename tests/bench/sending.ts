/**
 * What records cost an engine beside the traps that send them: inside one attachment llmprof's window is shut and opened again in random order, as
 * llmprof itself does it. The machine drifts more slowly than that, so this tells smaller differences than windows with and without probes can
 * (overhead.ts). While the window is shut every trap is taken, and nothing is sent.
 *
 *     deno run -A tests/bench/sending.ts [--model billion] [--pairs 100] [--bpftrace 0.23]
 */
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { chosenBpftraces } from "../harness/bpftraces.ts";
import { start } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import { bootNow } from "../kernel/boot_clock.ts";
import { bpftracesOf } from "../kernel/processes.ts";
import type { ShapeName } from "../workloads/shapes.ts";
import { COMPILED_MS } from "./modes.ts";
import { PinnedEngine, sayUntold, type Stretch, tokenCost } from "./pinned_engine.ts";
import { middle } from "./statistics.ts";
import { shuffled } from "./windows.ts";

const PHASE_MS = 500;
const SIGNALS = { open: "SIGWINCH", shut: "SIGURG" } as const;

const { values } = parseArgs({
  options: { model: { type: "string", default: "billion" }, pairs: { type: "string", default: "100" }, bpftrace: { type: "string" } },
});
for (const { name, path } of chosenBpftraces(values.bpftrace)) {
  using folder = temporary();
  await using engine = await PinnedEngine.start(values.model as ShapeName, 1);
  const command = [...llmprof, "operators", "--bpftrace", path, "--pid", String(engine.pid), "-o", folder.file("run.pftrace")];
  await using tracer = start(command, { timeoutMilliseconds: 600_000 });
  await tracer.saw("Tracing");
  await pause(COMPILED_MS);
  const readers = bpftracesOf(tracer.pid);
  const pairs: Record<"open" | "shut", Stretch>[] = [];
  for (let i = 0; i < Number(values.pairs); i++) {
    const pair = { open: { from: 0n, to: 0n }, shut: { from: 0n, to: 0n } };
    for (const window of shuffled(["open", "shut"] as const)) {
      for (const reader of readers) Deno.kill(reader, SIGNALS[window]);
      const from = bootNow();
      await pause(PHASE_MS);
      pair[window] = { from, to: bootNow() };
    }
    pairs.push(pair);
  }
  tracer.kill("SIGINT");
  await tracer.succeeded();
  const log = await engine.end();
  const ratios = pairs.map(({ open, shut }) => tokenCost(open, log) / tokenCost(shut, log));
  sayUntold(ratios);
  const { median, low, high, count } = middle(ratios);
  console.log(
    `bpftrace ${name}, model ${values.model}: open × ${median.toFixed(4)} shut  (95 %: ${low.toFixed(4)} to ${high.toFixed(4)}, ${count} pairs)`,
  );
}

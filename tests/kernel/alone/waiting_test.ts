/** A cold start that is waited for is that of whoever computes, and not of a helper that starts before it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { mustRun, run, start } from "../../harness/command.ts";
import { sampledTest } from "../../harness/kernel.ts";
import { temporary } from "../../harness/temporary.ts";
import { built } from "../../setup/programs.ts";
import { countedCalls, makeRoot } from "../../workloads/counted.ts";
import { startContainer } from "../container.ts";
import { outputPath, startLlmprof, summaryOf } from "../live_run.ts";
import { slicesOf } from "../trace_figures.ts";

const program = join(built.counted, "counted"), library = `load=${join(built.counted, "libllama.so")}`;

sampledTest(1, "waiting: helpers that map ggml or llama.cpp and end are passed over; of the engine behind them every call is seen", {
  gcc: true,
  judge: true,
}, async ({ path }) => {
  using folder = temporary();
  await using llmprof = startLlmprof("coldstart", { bpftrace: path, folder });
  await llmprof.saw("Waiting for the next inference process");
  // It is no llama.cpp, of which it complains.
  await run([program, `load=${join(built.counted, "libggml-base.so")}`]);
  await mustRun([program, library]);
  await llmprof.saw(/(Process \d+ is passed over\. It mapped an engine's library and ended without computing\. Still waiting\.[^]*){2}/);
  await mustRun([program, library, "call"]);
  const { result, events } = summaryOf("coldstart", await llmprof.finished());
  assert.deepEqual([result.end, events.lost], ["first token", 0]);
  assert.ok(result.root!.execSeen && result.milestones.some(({ name }) => name === "model load begins"), JSON.stringify(result.milestones));
  assert.equal((await slicesOf(outputPath(folder, "pftrace"), "llama.decode")).length, countedCalls.decodes);
});

sampledTest(2, "waiting: a start in a container begins with the exec of the program there", { gcc: true, podman: true }, async ({ path }) => {
  using folder = temporary();
  const root = folder.file("root");
  makeRoot(root);
  await using llmprof = startLlmprof("coldstart", { bpftrace: path, folder, formats: [] });
  await llmprof.saw("Waiting for the next inference process");
  await using container = await startContainer(folder, root, ["/bin/counted", "load=/opt/libllama.so", "call", "wait=/srv/end"]);
  await llmprof.saw("Tracing process");
  Deno.writeTextFileSync(join(container.srv, "end"), "");
  const { result } = summaryOf("coldstart", await llmprof.finished());
  assert.deepEqual([result.root?.file, result.root?.execSeen, result.end], ["counted", true, "first token"]);
});

/** Holds a file by its descriptor or by a mapping alone, until it is told to end. (Python itself opens files `.pth`, which may be weights: without `site`.) */
const HOLDING = `
import mmap, os, sys, time
of, how, stop = sys.argv[1:]
opened = os.open(of, os.O_RDONLY)
if how == "mapped":
    mapped = mmap.mmap(opened, 0, prot=mmap.PROT_READ)
    os.close(opened)
while not os.path.exists(stop): time.sleep(0.01)`;

for (const [index, how] of ["opened", "mapped"].entries()) {
  sampledTest(index, `waiting: weights whose name is longer than a probe reads are known by its end, ${how}`, {}, async ({ path }) => {
    using folder = temporary();
    const [weights, other, stop] = [folder.file(`${"model".repeat(30)}.gguf`), folder.file(`${"model".repeat(30)}.txt`), folder.file("stop")];
    for (const file of [weights, other]) Deno.writeFileSync(file, new Uint8Array(8192));
    await using llmprof = startLlmprof("coldstart", { bpftrace: path, folder, formats: [] });
    await llmprof.saw("Waiting for the next inference process");
    const argv = (file: string) => ["python3", "-I", "-S", "-c", HOLDING, file, how, stop];
    await using passed = start(argv(other));
    await using engine = start(argv(weights));
    await llmprof.saw(`Tracing process ${engine.pid} `);
    Deno.writeTextFileSync(stop, "");
    await Promise.all([passed.succeeded(), engine.succeeded()]);
    assert.equal((await llmprof.finished()).code, 0);
  });
}

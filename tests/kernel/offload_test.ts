/** An engine that has a part of its layers on Vulkan: which device computes what, and what is copied for it. */
import assert from "node:assert/strict";
import { presentOffload } from "../../lib/analysis/offload_present.ts";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { computedParts } from "../independent/tensors.ts";
import { query } from "../judge/trace_processor.ts";
import type { EngineLog } from "../workloads/engine_log.ts";
import { engineCommand, engineRun } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { type ShapeName, shapes } from "../workloads/shapes.ts";
import { bytesOf, copied } from "./copied_bytes.ts";
import { outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { operatorNames } from "./recorded.ts";

const cases: readonly (readonly [ShapeName, gpuLayers: number])[] = [["tiny", 1], ["moe", 2], ["tiny", 2], ["tiny", 3]];
/** A prompt of 32 tokens or more would be computed on the device by layers that the CPU keeps. */
const prompt = 8, tokens = 12;

for (const [index, [shape, gpuLayers]] of cases.entries()) {
  sampledTest(
    index,
    `offload: the ${shape} model with ${gpuLayers} layers on Vulkan`,
    { engine: true, vulkan: true, judge: true },
    async ({ path: bpftrace }) => {
      using folder = temporary();
      const options = { model: model(shape), prompt, tokens, gpuLayers };
      const library = (await log()).files.libggmlBase;
      const { of, value: { target, result } } = await computedParts({
        bpftrace,
        library,
        whileRunning: async () => {
          const formats = ["pftrace", "llmprof"];
          await using llmprof = startLlmprof("operators", { bpftrace, folder, formats, target: { argv: engineCommand(options) } });
          return summaryOf("operators", await llmprof.finished());
        },
      });
      const offload = result.offload!;
      assert.equal(offload.untoldNodes, 0);

      // The last layers go to the device, and before them what makes the logits.
      const { layers } = shapes[shape];
      const numbers = Array.from({ length: layers }, (_, i) => i), first = layers - (gpuLayers - 1);
      const expected = [
        { name: "CPU", layers: numbers.slice(0, first), output: false },
        { name: "Vulkan0", layers: numbers.slice(first), output: true },
      ];
      const devices = offload.devices.toSorted((a, b) => a.name < b.name ? -1 : 1);
      assert.deepEqual(devices.map(({ name, layers, output }) => ({ name, layers, output })), expected);
      assert.deepEqual(offload.elsewhere.filter(({ operator }) => operator === "MUL_MAT"), []);

      const names = operatorNames(outputPath(folder, "llmprof"));
      const named = (counts: Iterable<readonly [string, number]>) => [...counts].map(([op, nodes]) => `${op} ${nodes}`).toSorted().join();
      const walked = of(target!.pid).map((counts) => named([...counts].map(([op, count]) => [names[op]!, count] as const)));
      assert.deepEqual(
        devices.map(({ operators }) => named(operators.map(({ name, nodes }) => [name, nodes] as const))).toSorted(),
        walked.toSorted(),
      );

      assert.deepEqual(copied(offload, "prefill"), bytesOf(shapes[shape], gpuLayers, prompt, 1));
      assert.deepEqual(copied(offload, "decode"), bytesOf(shapes[shape], gpuLayers, 1, tokens - 1));

      const path = outputPath(folder, "pftrace");
      const [row] = await query(path, inTrace);
      const sums = offload.copies.reduce((sum, { calls, bytes, ns }) => [sum[0]! + calls, sum[1]! + bytes, sum[2]! + ns], [0, 0, 0]);
      assert.deepEqual([row!.copies, row!.bytes, row!.ns, row!.parts].map(Number), [...sums, devices.reduce((n, { splits }) => n + splits, 0)]);
    },
    index > 1,
  );
}

sampledTest(
  1,
  "offload: layers are moved as llmprof says, until it says no more: each time it knows how many there are, and less is copied",
  { engine: true, vulkan: true },
  async ({ path: bpftrace }) => {
    // A device that is a program on the CPU: whatever it computes is better left to the CPU.
    const looked: number[] = [];
    let before = Infinity;
    for (let gpuLayers: number | undefined = 2; gpuLayers !== undefined;) {
      using folder = temporary();
      const target = { argv: engineCommand({ model: model("tiny"), prompt, tokens, gpuLayers }) };
      await using llmprof = startLlmprof("operators", { bpftrace, folder, formats: [], flags: ["--no-output"], target });
      const { result } = summaryOf("operators", await llmprof.finished());
      const offload = result.offload!;
      looked.push(gpuLayers);
      const moved = copied(offload, "decode");
      assert.deepEqual(moved, gpuLayers === 0 ? {} : bytesOf(shapes.tiny, gpuLayers, 1, tokens - 1));
      const bytes = Object.values(moved).reduce((sum, one) => sum + one, 0);
      assert.ok(bytes < before, `${bytes} bytes with ${gpuLayers} layers on the device, ${before} with more`);
      before = bytes;
      const fewer = toMove(offload, result);
      assert.equal(fewer, gpuLayers === 0 ? undefined : gpuLayers);
      gpuLayers = fewer && fewer - 1;
    }
    assert.deepEqual(looked, [2, 1, 0]);
  },
  true,
);

/** Fewer layers than this should be on the device, as llmprof says to whoever reads it; undefined where it does not. */
function toMove(...offload: Parameters<typeof presentOffload>): number | undefined {
  const said = presentOffload(...offload).flatMap((view) => view.type === "note" ? [view.text] : []);
  const [fewer] = said.flatMap((text) => /offload fewer than (\d+) \(-ngl\)/.exec(text)?.slice(1) ?? []);
  return fewer === undefined ? undefined : Number(fewer);
}

let first: Promise<EngineLog> | undefined;

/** Of a run that nobody looks at. */
function log(): Promise<EngineLog> {
  return first ??= engineRun({ model: model("tiny"), tokens: 1, gpuLayers: 1 });
}

const inTrace = `select count(*) as copies, sum(dur) as ns,
  (select sum(a.int_value) from slice c join args a using (arg_set_id) where c.category = 'ggml.copy' and a.key = 'debug.bytes') as bytes,
  (select count(*) from slice where category = 'ggml.split') as parts
from slice where category = 'ggml.copy'`;

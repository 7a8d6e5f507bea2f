/** llama.cpp as packages brought it in 2024, when what a tensor holds and which function computes it was otherwise; and inside of an addon. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { BY_FUNCTIONS } from "../../lib/programs/detail.ts";
import { PRODUCTS } from "../../probes/ggml/work.ts";
import { start } from "../harness/command.ts";
import { matrixTest } from "../harness/kernel.ts";
import { top } from "../harness/places.ts";
import { temporary } from "../harness/temporary.ts";
import { countCalls } from "../independent/calls.ts";
import { type AsComputed, computedEdges, computedTensors } from "../independent/tensors.ts";
import { computingLibrary, engineOf } from "../setup/more_engines.ts";
import type { EngineLog } from "../workloads/engine_log.ts";
import { engineCommand, type EngineOptions } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { drawnEdges, type DrawnGraph, edge, slicedOperators, slicedTensors, tensorOf } from "./drawn.ts";
import { outputPath, startLlmprof, summaryOf } from "./live_run.ts";

/** Without collecting young garbage: when node does, the addon of 3.3 ends in "Check failed: Heap::InFromPage" now and then, whether it is traced or not. */
const quiet = (options: EngineOptions) => ["node", "--min-semi-space-size=64", "--max-semi-space-size=64", ...engineCommand(options).slice(1)];

const laidOut: Readonly<Record<"3.3" | "3.1", AsComputed>> = {
  "3.3": { called: "ggml_compute_forward", sources: 152, name: 256 },
  "3.1": { called: "ggml_compute_forward", sources: 160, name: 264 },
};

for (const [version, as] of Object.entries(laidOut) as ["3.3" | "3.1", AsComputed][]) {
  matrixTest(
    `node-llama-cpp ${version}: tokens, graphs, and every slice names the tensor that was computed`,
    { moreEngines: true, judge: true },
    async ({ path }) => {
      using folder = temporary();
      const options = { model: model("tiny"), prompt: 16, tokens: 41, engine: engineOf(version), log: folder.file("log") };
      const { tensors, value: { result, events, target } } = await computedTensors({
        bpftrace: path,
        library: computingLibrary(version),
        as,
        whileRunning: async () => {
          await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { argv: quiet(options) } });
          return summaryOf("operators", await llmprof.finished());
        },
      });
      assert.equal(events.lost, 0);
      const { prompt, decodes } = logged(options.log);
      const { prefill, decode, prefillCalls, decodeCalls } = result.tokens;
      assert.deepEqual([prefill, decode, prefillCalls, decodeCalls], [16, 40, prompt.decodes, decodes - prompt.decodes]);
      assert.deepEqual([result.graphs.count, result.graphs.withoutOperators], [decodes, 0]);
      const expected = tensors.filter(({ pid }) => pid === target!.pid).map(({ name, ne }) => tensorOf(name, ne));
      const found = await slicedTensors(outputPath(folder, "pftrace"));
      assert.ok(expected.length > 1000);
      assert.deepEqual(found, expected);
    },
  );

  matrixTest(
    `node-llama-cpp ${version}: two workers of a process that runs, and every edge of its graphs`,
    { moreEngines: true },
    async ({ path }) => {
      using folder = temporary();
      const [waitFile, log] = [folder.file("go"), folder.file("log")];
      const options = { model: model("tiny"), prompt: 16, tokens: 31, threads: 2, engine: engineOf(version), waitFile, log };
      await using engine = start(quiet(options));
      await engine.saw('"waiting"');
      const { of, value: { result, events } } = await computedEdges({
        bpftrace: path,
        library: computingLibrary(version),
        as,
        whileRunning: async () => {
          const formats = ["graph.json"], flags = ["--detail", "wait"];
          await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { pid: engine.pid }, formats, flags });
          await llmprof.saw("Tracing");
          Deno.writeTextFileSync(waitFile, "");
          return summaryOf("operators", await llmprof.finished());
        },
      });
      await engine.succeeded();
      assert.deepEqual([events.lost, result.graphs.count], [0, logged(log).decodes]);
      const [first, second] = result.workers;
      assert.ok(first!.calls > 1000);
      assert.equal(first!.calls, second!.calls);
      assert.ok(second!.waitNs! > 0);
      const { graphs } = JSON.parse(Deno.readTextFileSync(outputPath(folder, "graph.json"))) as { readonly graphs: readonly DrawnGraph[] };
      const expected = of(engine.pid).flat().map(({ tensor, place, source, from }) => edge(tensor, place, source, from));
      assert.deepEqual(drawnEdges(graphs).toSorted(), expected.toSorted());
    },
  );
}

matrixTest(
  "two engines of one target, whose libraries number operators otherwise and lay out tensors otherwise: each as its own has it",
  { moreEngines: true, judge: true },
  async ({ path }) => {
    const versions = ["3.3", "3.1"] as const;
    const all: string[][] = [];
    for (const together of [["3.3"], ["3.1"], versions] as const) {
      using folder = temporary();
      const waitFile = folder.file("go");
      const engines = together.map((version) =>
        quiet({ model: model("tiny"), prompt: 16, tokens: 31, threads: 1, engine: engineOf(version), waitFile })
      );
      // Whatever fails, they end with the shell.
      const shell = `${engines.map((argv) => `setpriv --pdeathsig KILL ${argv.map((word) => `'${word}'`).join(" ")} &`).join(" ")} wait`;
      await using server = start(["sh", "-c", shell]);
      await server.saw(new RegExp(`("waiting"[^]*){${together.length}}`));
      await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { pid: server.pid } });
      await llmprof.saw("Tracing");
      Deno.writeTextFileSync(waitFile, "");
      assert.equal(summaryOf("operators", await llmprof.finished()).events.lost, 0);
      all.push(await slicedOperators(outputPath(folder, "pftrace")));
    }
    const [newer, older, both] = all;
    assert.ok(newer!.length > 1000 && older!.length > 1000 && !newer!.some((what) => /^op \d|unknown/.test(what)));
    assert.deepEqual(both, [...newer!, ...older!].sort());
  },
);

matrixTest(
  "node-llama-cpp 3.3: --between tells of changes of the cache by older names, and of functions that newer libraries have no more",
  { moreEngines: true },
  async ({ path }) => {
    using folder = temporary();
    const log = folder.file("log");
    const argv = quiet({ model: model("tiny"), prompt: 16, tokens: 41, engine: engineOf("3.3"), log });
    const library = join(dirname(computingLibrary("3.3")), "libllama.so");
    const newest = new Map(["clear", "seq_rm", "seq_cp", "seq_keep", "seq_add", "seq_div"].map((end) => [end, `llama_memory_${end}`]));
    for (const end of ["defrag", "update"]) newest.set(end, `llama_kv_self_${end}`);
    const counted = await countCalls({
      bpftrace: path,
      functions: { [library]: [...newest.keys()].map((end) => `llama_kv_cache_${end}`) },
      whileRunning: async () => {
        const flags = ["--between", "--detail", "token"];
        await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { argv }, formats: [], flags });
        return summaryOf("operators", await llmprof.finished());
      },
    });
    const { result, events, target } = counted.value;
    assert.equal(events.lost, 0);
    const expected = [...newest].map(([end, name]) => [name, counted.of(`llama_kv_cache_${end}`, target!.pid)] as const).filter(([, calls]) =>
      calls > 0
    );
    assert.deepEqual(result.cache.changes.map(({ name, calls }) => [name, calls]).toSorted(), expected.toSorted());
    const updates = expected.find(([name]) => name === "llama_kv_self_update");
    assert.ok(updates![1] >= logged(log).decodes, `${updates} of ${logged(log).decodes} calls`);
  },
);

/** Engines in a library of a name of their own: the script that runs each, and whether operators can be seen. */
const embedded = {
  gpt4all: { script: "gpt4all.mjs", what: "gpt4all 4.0, with a ggml of early 2024", seesOperators: false, warmups: 0 },
  "llama.node": { script: "llama_node.mjs", what: "llama.node, compiled together with all of llama.cpp", seesOperators: true, warmups: 1 },
} as const;

for (const [name, { script, what, seesOperators, warmups }] of Object.entries(embedded)) {
  for (const how of ["running", "started"] as const) {
    const seen = seesOperators ? "tokens, graphs, operators" : "tokens and graphs are seen, and that operators are not is said";
    matrixTest(`${what}, ${how}: ${seen}`, { moreEngines: true }, async ({ path }) => {
      using folder = temporary();
      const go = folder.file("go");
      const argv = ["node", join(top, "tests/workloads", script), engineOf(name as keyof typeof embedded), model("small"), "41", go];
      if (how === "started") Deno.writeTextFileSync(go, "");
      await using engine = how === "running" ? start(argv) : null;
      await engine?.saw('"waiting"');
      const target = engine ? { pid: engine.pid } : { argv };
      await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target, formats: [] });
      await llmprof.saw("Tracing");
      Deno.writeTextFileSync(go, "");
      const finished = await llmprof.finished();
      const { result, events, notes } = summaryOf("operators", finished);
      const output = engine ? (await engine.finished()).stdout : finished.stderr;
      const said = JSON.parse(/^\{"tokensGenerated".*$/m.exec(output)![0]);
      assert.equal(events.lost, 0);
      assert.deepEqual([result.tokens.decode, result.tokens.prefill], [said.tokensGenerated, said.tokensIngested]);
      assert.equal(result.graphs.count, result.tokens.prefillCalls + result.tokens.decodeCalls + (how === "started" ? warmups : 0));
      assert.equal(result.graphs.withoutOperators, seesOperators ? 0 : result.graphs.count);
      const products = result.operators.find(({ name }) => name === "MUL_MAT")?.calls ?? 0;
      assert.ok(seesOperators ? products >= 85 * result.graphs.count : products === 0, `${products} products`);
      const saying = notes.filter((note) => note.includes("in phases"));
      assert.equal(saying.length > 0, !seesOperators, notes.join("\n"));
      assert.ok(saying.every((note) => note.endsWith(BY_FUNCTIONS)), saying.join("\n"));
    });
  }
}

matrixTest("gpt4all 4.0: where no operator is seen, --detail sample tells them by their functions", { moreEngines: true }, async ({ path }) => {
  using folder = temporary();
  const go = folder.file("go");
  Deno.writeTextFileSync(go, "");
  const argv = ["node", join(top, "tests/workloads", embedded.gpt4all.script), engineOf("gpt4all"), model("small"), "83", go];
  await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { argv }, formats: [], flags: ["--detail", "sample"] });
  const { works, functions } = summaryOf("operators", await llmprof.finished()).result.samples!;
  const products = works.find(({ name }) => name === PRODUCTS)!.samples, others = works.filter(({ name }) => /^[A-Z_]+$/.test(name));
  assert.ok(others.every(({ samples }) => samples < products), JSON.stringify(works));
  const [dearest] = functions.filter(({ work }) => work === PRODUCTS);
  assert.match(dearest!.name, /^ggml_vec_dot_q4_0_q8_0/, "what multiplies the weights that the model has");
});

/** What does not depend on the names of its libraries. */
function logged(path: string): Pick<EngineLog, "prompt" | "decodes"> {
  return JSON.parse(Deno.readTextFileSync(path));
}

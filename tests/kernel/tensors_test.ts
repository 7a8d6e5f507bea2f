/** A slice names the tensor that was computed, also after the engine has built its graph anew. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { sampledTest } from "../harness/kernel.ts";
import { top } from "../harness/places.ts";
import { temporary } from "../harness/temporary.ts";
import { computedTensors } from "../independent/tensors.ts";
import { engineCommand, engineRun, ownEngineCommand } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { type Shape, shapes } from "../workloads/shapes.ts";
import { slicedTensors, tensorOf } from "./drawn.ts";
import { outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { built } from "../setup/programs.ts";
import { query } from "../judge/trace_processor.ts";

sampledTest(0, "operators: every slice names the tensor that was computed", { engine: true, judge: true }, async ({ path: bpftrace }) => {
  using folder = temporary();
  // The prompt makes one graph, the first token another, and every 256th position one with more cells of the cache.
  const options = { model: model("tiny"), prompt: 16, tokens: 300 };
  const library = (await engineRun({ ...options, tokens: 1 })).files.libggmlCpu;
  const argv = ownEngineCommand(folder, options);
  const { tensors, value } = await computedTensors({
    bpftrace,
    library,
    program: argv[0],
    whileRunning: async () => {
      await using llmprof = startLlmprof("operators", { bpftrace, folder, target: { argv } });
      return summaryOf("operators", await llmprof.finished());
    },
  });
  const expected = tensors.filter(({ pid }) => pid === value.target!.pid).map(({ name, ne }) => tensorOf(name, ne));
  const found = await slicedTensors(outputPath(folder, "pftrace"));
  assert.equal(found.length, value.result.operators.reduce((sum, { calls }) => sum + calls, 0));
  assert.deepEqual(found, expected);
  assert.ok(new Set(expected).size > 40, "more than one graph was built");
  assert.deepEqual(await demands(outputPath(folder, "pftrace"), decodeDemands), expectedDemands(shapes.tiny, options));
  // Of the prompt and of each token but the last, in every layer.
  const looked = (await query(outputPath(folder, "pftrace"), cellsOfAttention)).map(({ cells, calls }) => [Number(cells), Number(calls)]);
  const upTo256 = 1 + 256 - options.prompt, all = options.tokens;
  assert.deepEqual(looked, [[256, upTo256 * shapes.tiny.layers], [512, (all - upTo256) * shapes.tiny.layers]]);
  assert.equal(value.result.cache.attendedCells, 512);
});

/** Tensor, bytes, of these cold ones, operations, calls. */
type Demand = readonly [tensor: string, bytes: number, cold: number, flops: number, calls: number];

/**
 * By hand, for one token: of a matrix its rows of Q4_0 (32 weights in 18 bytes), a vector in, a vector out. Attention reads as many cells of the cache as
 * are in use, in steps of 256, two vectors of f16 each and one number of its mask.
 */
function expectedDemands(
  { embedding, ffn, heads, vocabulary }: Shape,
  { prompt, tokens }: { readonly prompt: number; readonly tokens: number },
): Demand[] {
  const product = (tensor: string, from: number, to: number, calls = tokens - 1): Demand => {
    const weights = to * from / 32 * 18;
    return [tensor, weights + (from + to) * 4, weights, 2 * from * to, calls];
  };
  const attention = (cells: number, calls: number): Demand => {
    const given = cells * (2 * embedding + 1) * 2;
    return ["attention", given + 2 * embedding * 4, given, cells * heads * (4 * embedding / heads + 7), calls];
  };
  const before256 = 256 - prompt;
  // In the order of their names.
  return [
    product("Qcur-0", embedding, embedding),
    attention(256, before256),
    attention(512, tokens - 1 - before256),
    product("ffn_gate-0", embedding, ffn),
    product("ffn_out-0", ffn, embedding),
    // The prompt's last position passes it too.
    product("result_output", embedding, vocabulary, tokens),
  ];
}

sampledTest(
  1,
  "operators: a mixture asks for the experts that its tokens can have chosen",
  { engine: true, judge: true },
  async ({ path: bpftrace }) => {
    using folder = temporary();
    // Two of eight experts for a token: seventeen may have chosen all.
    await using llmprof = startLlmprof("operators", {
      bpftrace,
      folder,
      target: { argv: engineCommand({ model: model("moe"), prompt: 17, tokens: 3 }) },
    });
    summaryOf("operators", await llmprof.finished());
    const { embedding, ffn, experts, expertsUsed } = shapes.moe;
    const product = (tensor: string, from: number, to: number, tokens: number, calls: number): Demand => {
      const chosen = tokens * expertsUsed;
      const weights = Math.min(experts, chosen) * to * from / 32 * 18;
      // One vector serves both experts where they begin, and each has its own where they end.
      const given = tensor.includes("down") ? chosen : tokens;
      return [`${tensor}-0`, weights + given * from * 4 + chosen * 4 + chosen * to * 4, weights, 2 * from * to * chosen, calls];
    };
    const both = (tensor: string, from: number, to: number) => [product(tensor, from, to, 1, 2), product(tensor, from, to, 17, 1)];
    const expected = [...both("ffn_moe_down", ffn, embedding), ...both("ffn_moe_gate", embedding, ffn), ...both("ffn_moe_up", embedding, ffn)];
    assert.deepEqual(await demands(outputPath(folder, "pftrace"), expertDemands), expected);
  },
);

// Their graphs lie in the same memory, and differ in nothing but the fourth dimension of attention.
sampledTest(2, "operators: of two sequences attention is of one where one is computed, and of both where both are", {
  engine: true,
  judge: true,
}, async ({ path: bpftrace }) => {
  using folder = temporary();
  const tokens = 10, { layers, heads, embedding } = shapes.tiny;
  const argv = ["node", join(top, "tests", "workloads", "sequences.mjs"), model("tiny"), String(tokens)];
  await using llmprof = startLlmprof("operators", { bpftrace, folder, target: { argv } });
  summaryOf("operators", await llmprof.finished());
  const looked = (await query(outputPath(folder, "pftrace"), shapesOfAttention)).map((
    { shape, cells, calls },
  ) => [shape, Number(cells), Number(calls)]);
  const result = `${embedding / heads}×${heads}`;
  assert.deepEqual(looked, [[result, 256, tokens * layers], [`${result}×1×2`, 512, tokens * layers]]);
});

async function demands(trace: string, sql: string): Promise<Demand[]> {
  const rows = await query(trace, sql);
  return rows.map(({ tensor, bytes, cold, flops, calls }) => [String(tensor), ...[bytes, cold, flops, calls].map(Number)] as unknown as Demand);
}

sampledTest(
  0,
  "operators: a ggml that lays out its tensors otherwise is read where that can be told, and otherwise timed without names",
  { engine: false, judge: false },
  async ({ path: bpftrace }) => {
    const tables = await Promise.all([built.paced, built.moreSources, built.gradient, built.changed].map(async (program) => {
      using folder = temporary();
      await using llmprof = startLlmprof("operators", { bpftrace, folder, target: { argv: [program, "2000", "1"] } });
      const { result, notes, events } = summaryOf("operators", await llmprof.finished());
      assert.deepEqual([events.lost, events.received], [0, events.emitted]);
      assert.equal(result.graphs.nodes, result.operators.reduce((sum, { calls }) => sum + calls, 0));
      const called = result.operators.filter(({ calls }) => calls > 0);
      const layers = result.layers.filter(({ layer, calls }) => layer !== null && calls > 0).length;
      const told = notes.filter((note) => note.includes("lays out its tensors")).length;
      return { called, names: called.map(({ name }) => name).toSorted(), layers, told };
    }));
    const [known, moreSources, gradient, changed] = tables as [typeof tables[0], ...typeof tables];
    for (const { names, layers, told } of [known, moreSources!]) {
      assert.deepEqual([names, layers, told], [["ADD", "GLU", "MUL_MAT", "RMS_NORM", "ROPE", "SOFT_MAX"], 23, 0]);
    }
    // 1024×1024 numbers of f32 by as many, to as many, behind it.
    const { calls, bytes, flops } = moreSources!.called.find(({ name }) => name === "MUL_MAT")!;
    assert.deepEqual([bytes, flops], [calls * (1024 * 1024 + 2 * 1024) * 4, calls * 2 * 1024 * 1024]);
    // What came before the first product had its name.
    assert.ok(gradient!.names.includes("unknown operator") && !gradient!.names.includes("MUL_MAT"), String(gradient!.names));
    assert.deepEqual(gradient!.told, 1);
    assert.deepEqual([changed!.names, changed!.told], [["unknown operator"], 1]);
  },
);

const cellsOfAttention = `select c.int_value as cells, count(*) as calls from slice s join args c using (arg_set_id)
  where s.category = 'ggml.op' and c.key = 'debug.cells' group by 1 order by 1`;
const shapesOfAttention = `select extract_arg(arg_set_id, 'debug.shape') as shape, extract_arg(arg_set_id, 'debug.cells') as cells, count(*) as calls
  from slice where category = 'ggml.op' and name = 'FLASH_ATTN_EXT' group by 1, 2 order by 2`;
const ops = `
with op as (
  select s.name, extract_arg(s.arg_set_id, 'debug.tensor') as tensor, extract_arg(s.arg_set_id, 'debug.shape') as shape,
    extract_arg(s.arg_set_id, 'debug.bytes') as bytes, extract_arg(s.arg_set_id, 'debug.cold') as cold, extract_arg(s.arg_set_id, 'debug.flops') as flops
  from slice s where s.category = 'ggml.op'
)`;
const decodeDemands = `${ops}
select tensor, bytes, cold, flops, count(*) as calls from op
where name = 'MUL_MAT' and tensor in ('Qcur-0', 'ffn_gate-0', 'ffn_out-0', 'result_output') and shape like '%×1' group by tensor, bytes, cold, flops
union all
select 'attention', bytes, cold, flops, count(*) / (select count(distinct tensor) from op where name = 'FLASH_ATTN_EXT') from op
where name = 'FLASH_ATTN_EXT' and shape not like '%×%×%' group by bytes, cold, flops
order by tensor, bytes`;
const expertDemands = `${ops}
select tensor, bytes, cold, flops, count(*) as calls from op
where name = 'MUL_MAT_ID' and tensor like '%-0' group by tensor, bytes, cold, flops order by tensor, bytes`;

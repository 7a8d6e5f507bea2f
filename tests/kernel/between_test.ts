/** What an engine asks of libllama between two tokens: every call is there, and explains a part of the time in between. */
import assert from "node:assert/strict";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { countCalls } from "../independent/calls.ts";
import { query } from "../judge/trace_processor.ts";
import { engineRun, startEngine } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { outputPath, startLlmprof, summaryOf } from "./live_run.ts";

const prompt = 16, tokens = 37;
/** Functions whose calls are counted together. */
const asked = {
  "tokenize": ["llama_tokenize"],
  "detokenize": ["llama_detokenize", "llama_token_to_piece"],
  "save state": ["llama_state_seq_save_file"],
  "restore state": ["llama_state_seq_load_file"],
} as const;
const changes = ["clear", "seq_rm", "seq_cp", "seq_keep", "seq_add", "seq_div"].map((end) => `llama_memory_${end}`);

sampledTest(0, "--between: calls of libllama are the engine's, and explain a part of the time", { engine: true, judge: true }, async ({ path }) => {
  using folder = temporary();
  const waitFile = folder.file("go"), trace = outputPath(folder, "pftrace");
  const options = { model: model("tiny"), prompt, tokens, chores: folder.path };
  const library = (await engineRun({ ...options, tokens: 1 })).files.libllama;
  await using engine = startEngine({ ...options, waitFile });
  await engine.saw('"waiting"');
  const functions = { [library]: [...Object.values(asked).flat(), ...changes] };
  const counted = await countCalls({
    bpftrace: path,
    functions,
    whileRunning: async () => {
      await using llmprof = startLlmprof("operators", {
        bpftrace: path,
        folder,
        target: { pid: engine.pid },
        flags: ["--between", "--detail", "token"],
      });
      await llmprof.saw("Tracing process");
      Deno.writeTextFileSync(waitFile, "");
      return summaryOf("operators", await llmprof.finished());
    },
  });
  await engine.succeeded();
  const { result, events } = counted.value;
  assert.deepEqual([events.lost, events.received], [0, events.emitted]);

  const expected = Object.entries(asked).map(([name, functions]) => [name, functions.reduce((sum, each) => sum + counted.of(each, engine.pid), 0)]);
  assert.deepEqual(result.libraryCalls.map(({ name, calls }) => [name, calls]), expected);
  // One of each at every token.
  assert.ok(result.libraryCalls.filter(({ name }) => /tokenize/.test(name)).every(({ calls }) => calls >= tokens));
  const changed = changes.map((name) => [name, counted.of(name, engine.pid)] as const).filter(([, calls]) => calls > 0);
  assert.deepEqual(result.cache.changes.map(({ name, calls }) => [name, calls]).toSorted(), changed.toSorted());
  assert.ok(changed.some(([name]) => name === "llama_memory_seq_rm"), "positions were forgotten");
  // The last token that was sampled is never decoded.
  assert.equal(result.cache.longestSequence, prompt + tokens - 1);

  const { betweenDecodesNs, betweenUnknownNs, samplingNs } = result.time;
  const inside = await query(trace, coveredBetween);
  assert.equal(betweenDecodesNs - betweenUnknownNs, Number(inside[0]!.ns), "what trace_processor finds covered between two calls that generate");
  assert.ok(samplingNs > 0 && betweenUnknownNs > 0);
  const length = (n: number) => new TextEncoder().encode(`${n} and the words behind`).length;
  const texts = Array.from({ length: tokens }, (_, i) => length(i + 1));
  const lengths = (await query(trace, sizes)).map(({ bytes }) => Number(bytes));
  // The engine asks so many times for each.
  const times = count(lengths, texts[0]!) / count(texts, texts[0]!);
  assert.ok(Number.isInteger(times) && times > 0, `${times} calls for a text`);
  for (const bytes of new Set(texts)) assert.equal(count(lengths, bytes), times * count(texts, bytes), `texts of ${bytes} bytes`);
});

/** Nanoseconds between two calls of llama_decode, the second of which generates, that calls of libllama cover; they do not overlap in this engine. */
const coveredBetween = `
  with decodes as (
    select ts, lag(ts + dur) over (order by ts) as before from slice where category = 'llama.decode'),
  generating as (
    select d.ts, d.before from decodes d join slice s on s.ts = d.ts and s.category = 'llama.decode'
    join args a using (arg_set_id) where a.key = 'debug.phase' and a.string_value = 'decode' and d.before is not null)
  select sum(max(0, min(s.ts + s.dur, g.ts) - max(s.ts, g.before))) as ns from generating g join slice s
  on s.category in ('llama.sample', 'llama.tokenize', 'llama.detokenize', 'llama.save', 'llama.restore') and s.ts < g.ts and s.ts + s.dur > g.before`;
const sizes = `select a.int_value as bytes from slice s join args a using (arg_set_id)
  where s.category = 'llama.tokenize' and a.key = 'debug.bytes'`;

function count(numbers: readonly number[], one: number): number {
  return numbers.filter((number) => number === one).length;
}

/** What is a prompt in the batches that llama.cpp is given, what is generated, and where it is in its sequence: as the program puts it there. */
import assert from "node:assert/strict";
import { matrixTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { query } from "../judge/trace_processor.ts";
import { built } from "../setup/programs.ts";
import { outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { untilTold } from "./until_told.ts";

matrixTest(
  "batches by value and by pointer: prompt and generated tokens, each call, the last place",
  { judge: true, gcc: true },
  async ({ path }) => {
    using folder = temporary();
    await using program = await untilTold(folder, [built.batches]);
    await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { pid: program.pid }, flags: ["--detail", "token"] });
    await llmprof.saw("Tracing");
    program.go();
    const { result, events } = summaryOf("operators", await llmprof.finished());
    assert.deepEqual([events.lost, events.received], [0, events.emitted]);
    // See batches.c. Of the 19 beside 41 that come through llama_decode three are taken for the prompt's.
    const generated = 101 + 11 * 3 + 5 * 19;
    assert.deepEqual(result.tokens, {
      prefill: (37 + 29 + 41 + 3 + 17) + (37 + 29 + 41 + 17),
      decode: 2 * generated + (2 + 16) + (2 + 18),
      besidePrompts: (2 + 16) + (2 + 18),
      prefillCalls: 2 * 4,
      decodeCalls: 2 * (101 + 11 + 5) + 1,
      openCalls: 0,
      failedCalls: 1,
    });
    // Neither an encoder's batch nor one that was refused is in the cache.
    assert.equal(result.cache.longestSequence, (37 + 101 + 33 + 31 + 95 + 60) + (37 + 101 + 33 + 31 + 95 + 59));
    const told = await query(
      outputPath(folder, "pftrace"),
      `select s.category, count(*) as n, sum(a.int_value) as tokens from slice s join args a using (arg_set_id)
      where s.category in ('llama.decode', 'llama.encode') and a.flat_key = 'debug.tokens' group by 1 order by 1`,
    );
    assert.deepEqual(told.map(({ category, n, tokens }) => [category, Number(n), Number(tokens)]), [
      ["llama.decode", 2 * (117 + 4) + 1, 2 * (generated + 37 + 31 + 17) + 60 + 59 + 1],
      ["llama.encode", 7, 7 * 13],
    ]);
  },
);

/** What is a prompt in the batches that llama.cpp is given, what is generated, and where it is in its sequence: as the program puts it there. */
import assert from "node:assert/strict";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { query } from "../judge/trace_processor.ts";
import { built } from "../setup/programs.ts";
import { outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { untilTold } from "./until_told.ts";

const ways = [
  ["batches by value and by pointer: prompt and generated tokens, each call, the last place", built.batches],
  ["batches in a program where a function may be a part of its callers: each call once, at whatever is left of them", built.inlinedBatches],
] as const;

for (const [index, [name, engine]] of ways.entries()) {
  sampledTest(1 - index, name, { judge: true, gcc: true }, async ({ path }) => {
    using folder = temporary();
    await using program = await untilTold(folder, [engine]);
    await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { pid: program.pid }, flags: ["--detail", "token"] });
    await llmprof.saw("Tracing");
    program.go();
    const { result, events } = summaryOf("operators", await llmprof.finished());
    assert.deepEqual([events.lost, events.received], [0, events.emitted]);
    // See batches.c. Of two sequences at neighbouring places none is a guess.
    const right = 2 * (0 + 1 + 2 + 3 + 4) + 0 + 1 + 2, beside = 2 + 19 + 2 + 18;
    const generated = 101 + 11 * 3 + 5 * 19 + 13 + right + 1;
    const rightOfTwo = 2 * (0 + 1 + 2 + 0 + 1 + 2 + 0), generatedOfTwo = 7 * 2 + rightOfTwo + 2, neighbours = 2 * (17 * 2 + 3), crowd = 2 * 200;
    // In both ways, alone and beside a prompt.
    const guessed = 2 * 13 * 4 + 4 * 7 * 4, kept = 2 * right + 4 * rightOfTwo, ofContext = 2 * generated + 4 * generatedOfTwo + beside;
    assert.deepEqual(result.tokens, {
      prefill: 2 * (37 + 29 + 41 + 17 + 5 + 8 * 23 + 31),
      decode: ofContext + neighbours + crowd,
      besidePrompts: beside + 2 * generatedOfTwo + crowd,
      guessed,
      kept,
      prefillCalls: 2 * (5 + 8 + 1),
      decodeCalls: 2 * (101 + 11 + 5 + 13 + 1 + 8) + 1 + 2 * (17 + 3),
      openCalls: 0,
      failedCalls: 1,
    });
    const told = result.contexts.map(({ guesses, decode, guessed, kept }) => ({ guesses, decode, guessed, kept }));
    assert.deepEqual(told.sort((a, b) => b.decode - a.decode), [
      { guesses: false, decode: ofContext, guessed, kept },
      { guesses: false, decode: crowd, guessed: 0, kept: 0 },
      { guesses: true, decode: 2 * (2 * 13 + 4 * 7), guessed: 0, kept: 0 },
      { guesses: false, decode: neighbours, guessed: 0, kept: 0 },
    ]);
    // Neither an encoder's batch nor one that was refused is in the cache. Two sequences go on where the one was, four times in seven steps and two; before the
    // last of these seven the draft is where they are.
    const steps = 1 + 2 + 3 + 1 + 2 + 3 + 1;
    assert.equal(
      result.cache.longestSequence,
      (37 + 101 + 33 + 31 + 95 + 60) + (37 + 101 + 33 + 31 + 95 + 59) + 2 * (13 + right + 1) + 3 * (steps + 2) + steps,
    );
    const slices = await query(
      outputPath(folder, "pftrace"),
      `select s.category, count(*) as n, sum(a.int_value) as tokens from slice s join args a using (arg_set_id)
      where s.category in ('llama.decode', 'llama.encode') and a.flat_key = 'debug.tokens' group by 1 order by 1`,
    );
    assert.deepEqual(slices.map(({ category, n, tokens }) => [category, Number(n), Number(tokens)]), [
      [
        "llama.decode",
        2 * (117 + 4 + 3 * 13 + 1) + 4 * (8 + 7 * 2) + 1 + 2 * (1 + 17 + 3) + 2,
        2 * (2 * (7 * (2 + 6) + 2) + 8 * 23) + 2 * (229 + 13 * (5 + 2) + 1 + 37 + 31 + 17) + 60 + 59 + 1 + 2 * 5 + neighbours + crowd + 2 * 31,
      ],
      ["llama.encode", 7, 7 * 13],
    ]);
  });
}

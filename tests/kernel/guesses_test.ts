/** Tokens that an engine guesses with a second model: how many, how many of them were right, and which context guesses, as the engine says itself. */
import assert from "node:assert/strict";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { parseEngineLog } from "../workloads/engine_log.ts";
import { engineCommand } from "../workloads/engine_run.ts";
import { model } from "../workloads/model.ts";
import { shapes } from "../workloads/shapes.ts";
import { absolute, startLlmprof, summaryOf } from "./live_run.ts";

const PROMPT = 16;

sampledTest(0, "guessed tokens: those that are right are generated, and no others", { engine: true }, async ({ path }) => {
  using folder = temporary();
  const log = folder.file("log");
  const argv = engineCommand({ model: model("tiny"), draft: model("tiny"), prompt: PROMPT, tokens: 101, log });
  await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { argv }, flags: ["--detail", "token"] });
  const { result, events } = summaryOf("operators", await llmprof.finished());
  assert.deepEqual([events.lost, events.received], [0, events.emitted]);
  const said = parseEngineLog(Deno.readTextFileSync(log)), batches = said.generated.decodes;
  const { withPrompt, guessed, right, draftBatches } = said.guesses!;
  assert.ok(right > 0 && right < guessed, `${right} of ${guessed} right: nothing to tell apart`);
  assert.deepEqual(result.tokens, {
    // The engine lets the first guesses be computed with the prompt.
    prefill: PROMPT + withPrompt,
    decode: batches + right,
    besidePrompts: 0,
    guessed,
    kept: right,
    prefillCalls: 1,
    decodeCalls: batches,
    openCalls: 0,
    failedCalls: 0,
  });
  assert.equal(result.betweenTokens!.count, batches);
  assert.deepEqual(result.contexts.map(({ guesses }) => guesses).sort(), [false, true]);
  const draft = result.contexts.find(({ guesses }) => guesses)!;
  assert.equal(draft.prefillCalls + draft.decodeCalls, draftBatches);
});

sampledTest(1, "a model that guesses for a larger one: each context's operators are those of its own graphs", { engine: true }, async ({ path }) => {
  using folder = temporary();
  const argv = engineCommand({ model: model("small"), draft: model("tiny"), prompt: PROMPT, tokens: 13, log: folder.file("log") });
  await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { argv } });
  const { result, events } = summaryOf("operators", await llmprof.finished());
  assert.deepEqual([events.lost, events.received], [0, events.emitted]);
  const { draftBatches } = parseEngineLog(Deno.readTextFileSync(folder.file("log"))).guesses!;
  // Of queries and keys, one each in every layer, whether or not somebody wants logits.
  const ropes = (rows: typeof result.operators) => rows.find(({ name }) => name === "ROPE")!.calls;
  const [draft, main] = [true, false].map((guesses) => result.contexts.find((context) => context.guesses === guesses)!);
  assert.equal(ropes(draft!.operators), draftBatches * 2 * shapes.tiny.layers);
  assert.equal(ropes(main!.operators), (main!.prefillCalls + main!.decodeCalls) * 2 * shapes.small.layers);
  assert.equal(ropes(draft!.operators) + ropes(main!.operators), ropes(result.operators));
});

sampledTest(2, "a cold start ends with the first token of the model that answers, not with the first guess", { engine: true }, async ({ path }) => {
  using folder = temporary();
  const log = folder.file("log");
  const argv = engineCommand({ model: model("small"), draft: model("tiny"), prompt: PROMPT, tokens: 13, log });
  await using llmprof = startLlmprof("coldstart", { bpftrace: path, folder, target: { argv } });
  const { result, events, clock } = summaryOf("coldstart", await llmprof.finished());
  assert.deepEqual([events.lost, events.received], [0, events.emitted]);
  const { guesses, times } = parseEngineLog(Deno.readTextFileSync(log));
  assert.ok(guesses!.withPrompt > 0, "nothing was guessed before the prompt");
  const at = absolute({ clock }, result.root!.execNs + result.totalNs + result.stoppedNs);
  assert.ok(times.firstBatch < at && at < times.firstToken, `a token at ${at}, of a prompt from ${times.firstBatch} to ${times.firstToken}`);
  assert.equal(result.firstTokenBasis, "sampling");
});

/** llama.cpp's own programs of today: tokens and calls are those that it prints itself, and each of them computes one graph. */
import assert from "node:assert/strict";
import { linkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { start } from "../harness/command.ts";
import { matrixTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { debianRoot } from "../setup/debian_llama.ts";
import { model } from "../workloads/model.ts";
import { startLlmprof, summaryOf } from "./live_run.ts";

matrixTest("Debian's llama.cpp: prompt, generated tokens, graphs", { debianLlama: true }, async ({ path }) => {
  using folder = temporary(), inside = temporary(join(debianRoot, "tmp"));
  linkSync(model("small"), inside.file("small.gguf"));
  const file = inside.file("small.gguf").slice(debianRoot.length);
  const flags = ["-m", file, "-t", "2", "-n", "19", "-p", "one two three", "-no-cnv"];
  const argv = ["chroot", debianRoot, "llama-completion", ...flags];
  await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { argv }, formats: [] });
  const finished = await llmprof.finished();
  const { result, events, host } = summaryOf("operators", finished);
  assert.equal(events.lost, 0);
  const said = (what: string) => Number(new RegExp(`[^t] ${what} time = .* / +(\\d+) `).exec(finished.stderr)![1]);
  const { prefill, decode, prefillCalls, decodeCalls } = result.tokens;
  assert.deepEqual([prefill, decode, prefillCalls, decodeCalls], [said("prompt eval"), said("eval"), 1, 18]);
  // It warms up, of which it tells nobody.
  assert.equal(result.graphs.count, 1 + prefillCalls + decodeCalls);
  assert.equal(result.graphs.withoutOperators, 0);
  assert.ok(result.operators.find(({ name }) => name === "MUL_MAT")!.calls % result.graphs.count === 0);
  assert.equal(host.engine, "llama.cpp");
});

matrixTest("Debian's llama-server, asked the same again: of a prompt that it knows one token is computed, and none is generated", {
  debianLlama: true,
}, async ({ path }) => {
  using folder = temporary(), inside = temporary(join(debianRoot, "tmp"));
  linkSync(model("tiny"), inside.file("tiny.gguf"));
  const port = freePort(), file = inside.file("tiny.gguf").slice(debianRoot.length);
  const argv = ["chroot", debianRoot, "llama-server", "-m", file, "-t", "1", "-np", "1", "-c", "1024", "--port", String(port)];
  await using server = start(argv);
  await healthy(port);
  await using llmprof = startLlmprof("operators", {
    bpftrace: path,
    folder,
    target: { pid: server.pid },
    formats: [],
    flags: ["--detail", "token"],
  });
  await llmprof.saw("Tracing");
  const said = { prompt_n: 0, predicted_n: 0 }, requests = 5;
  let last = said;
  for (let i = 0; i < requests; i++) {
    const body = JSON.stringify({ prompt: "one two three four five six seven", n_predict: 11, temperature: 0 });
    last = await ask(port, body, said);
  }
  llmprof.kill("SIGINT");
  const { result, events } = summaryOf("operators", await llmprof.finished());
  server.kill("SIGINT");
  assert.equal(events.lost, 0);
  const { prefill, prefillCalls, decode } = result.tokens;
  // The first token of an answer comes out of its prompt.
  assert.deepEqual([prefill, prefillCalls, decode], [said.prompt_n, requests, said.predicted_n - requests]);
  assert.ok(last.prompt_n === 1, JSON.stringify(last));
});

for (const slots of [1, 2]) {
  matrixTest(
    `Debian's llama-server with a model that guesses, ${slots} at a time: guesses, the right ones, and whose they are`,
    { debianLlama: true },
    async ({ path }) => {
      using folder = temporary(), inside = temporary(join(debianRoot, "tmp"));
      for (const name of ["one.gguf", "other.gguf"]) linkSync(model("tiny"), inside.file(name));
      const file = (name: string) => inside.file(name).slice(debianRoot.length);
      const port = freePort();
      const guessing = ["-md", file("other.gguf"), "--spec-type", "draft-simple", "--spec-draft-n-max", "4"];
      const flags = ["-m", file("one.gguf"), ...guessing, "-t", "1", "-np", String(slots), "-c", "1024", "--port", String(port)];
      await using server = start(["chroot", debianRoot, "llama-server", ...flags]);
      await healthy(port);
      await using llmprof = startLlmprof("operators", {
        bpftrace: path,
        folder,
        target: { pid: server.pid },
        formats: [],
        flags: ["--detail", "token"],
      });
      await llmprof.saw("Tracing");
      const said = { prompt_n: 0, predicted_n: 0, draft_n: 0, draft_n_accepted: 0 };
      const requests = 3;
      const askAll = async (slot: number) => {
        for (let i = 0; i < requests; i++) {
          const body = JSON.stringify({ prompt: `w30${i}${slot} hello`, n_predict: 41 + i + 7 * slot, temperature: 0, cache_prompt: false });
          await ask(port, body, said);
        }
      };
      await Promise.all(Array.from({ length: slots }, (_, slot) => askAll(slot)));
      llmprof.kill("SIGINT");
      const { result, events } = summaryOf("operators", await llmprof.finished());
      server.kill("SIGINT");
      assert.equal(events.lost, 0);
      const { prefill, decode, guessed, kept } = result.tokens;
      assert.deepEqual([prefill, guessed], [said.prompt_n, said.draft_n]);
      assert.ok(kept > 0 && kept <= said.draft_n_accepted, `${kept} of ${said.draft_n_accepted}`);
      // The first token of an answer comes out of its prompt; of its last call nobody sees which guesses were right, nor of one after which another comes.
      assert.equal(decode, said.predicted_n - slots * requests - (said.draft_n_accepted - kept));
      assert.deepEqual(result.contexts.map(({ guesses }) => guesses).sort(), [false, true]);
    },
  );
}

/** What llama-server says that it took is added to `said`, and returned. */
async function ask<Timings extends Record<string, number>>(port: number, body: string, said: Timings): Promise<Timings> {
  const { timings } = await (await fetch(`http://localhost:${port}/completion`, { method: "POST", body })).json();
  for (const key of Object.keys(said)) (said as Record<string, number>)[key]! += timings[key];
  return timings;
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

async function healthy(port: number): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    const answer = await fetch(`http://localhost:${port}/health`).catch(() => null);
    await answer?.body?.cancel();
    if (answer?.ok) return;
    await pause(100);
  }
  throw new Error("llama-server does not answer.");
}

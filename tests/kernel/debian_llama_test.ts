/** llama.cpp's own programs of today: tokens and calls are those that it prints itself, and each of them computes one graph. */
import assert from "node:assert/strict";
import { linkSync } from "node:fs";
import { join } from "node:path";
import { matrixTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { debianRoot } from "../setup/debian_llama.ts";
import { model } from "../workloads/model.ts";
import { startLlmprof, summaryOf } from "./live_run.ts";

matrixTest("Debian's llama.cpp: prompt, generated tokens, graphs", { debianLlama: true }, async ({ path }) => {
  using folder = temporary(), inside = temporary(join(debianRoot, "tmp"));
  linkSync(model("small"), inside.file("small.gguf"));
  const file = inside.file("small.gguf").slice(debianRoot.length);
  const flags = ["-m", file, "-t", "2", "-n", "19", "-p", "one two three", "--no-warmup", "-no-cnv"];
  const argv = ["chroot", debianRoot, "llama-completion", ...flags];
  await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { argv }, formats: [] });
  const finished = await llmprof.finished();
  const { result, events, host } = summaryOf("operators", finished);
  assert.equal(events.lost, 0);
  const said = (what: string) => Number(new RegExp(`[^t] ${what} time = .* / +(\\d+) `).exec(finished.stderr)![1]);
  const { prefill, decode, prefillCalls, decodeCalls } = result.tokens;
  assert.deepEqual([prefill, decode, prefillCalls, decodeCalls], [said("prompt eval"), said("eval"), 1, 18]);
  assert.equal(result.graphs.count, prefillCalls + decodeCalls);
  assert.equal(result.graphs.withoutOperators, 0);
  assert.ok(result.operators.find(({ name }) => name === "MUL_MAT")!.calls % result.graphs.count === 0);
  assert.equal(host.engine, "llama.cpp");
});

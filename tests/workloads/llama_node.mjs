/**
 * llama.cpp in an addon of node, which says how many tokens it was given and generated.
 *
 *     node llama_node.mjs FOLDER MODEL TOKENS WAIT_FILE
 *
 * FOLDER is where @fugood/llama.node is installed. It loads the model, prints `{"waiting":PID}`, and generates so many tokens when WAIT_FILE exists. While
 * it loads it computes two tokens to warm up.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const [folder, model, tokens, waitFile] = process.argv.slice(2);
const { loadModel } = createRequire(join(folder, "package.json"))("@fugood/llama.node");
const context = await loadModel({ model, n_ctx: 256, n_gpu_layers: 0, n_threads: 1, lib_variant: "default" });
console.log(JSON.stringify({ waiting: process.pid }));
while (!existsSync(waitFile)) await pause(5);
const { timings } = await context.completion({ prompt: "hello world", n_predict: Number(tokens), temperature: 0, ignore_eos: true }, () => {});
console.log(JSON.stringify({ tokensGenerated: timings.predicted_n, tokensIngested: timings.prompt_n }));
await context.release();

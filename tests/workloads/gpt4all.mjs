/**
 * An engine of early 2024 that says how many tokens it was given and generated: a process with all of llama.cpp in a library of a name of its own.
 *
 *     node gpt4all.mjs FOLDER MODEL TOKENS WAIT_FILE
 *
 * FOLDER is where gpt4all is installed. It loads the model, prints `{"waiting":PID}`, and generates so many tokens when WAIT_FILE exists.
 */
import { existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const [folder, path, tokens, waitFile] = process.argv.slice(2);
const { loadModel } = createRequire(join(folder, "package.json"))("gpt4all");
const modelConfigFile = `${waitFile}.json`;
// It knows a model from a list.
writeFileSync(
  modelConfigFile,
  JSON.stringify([{ name: "model", filename: basename(path), promptTemplate: "%1", systemPrompt: "", order: "a", md5sum: "" }]),
);
const model = await loadModel(basename(path), { modelPath: dirname(path), allowDownload: false, device: "cpu", nCtx: 256, modelConfigFile });
console.log(JSON.stringify({ waiting: process.pid }));
while (!existsSync(waitFile)) await pause(5);
const { tokensGenerated, tokensIngested } = await model.generate("a", { nPredict: Number(tokens), temp: 0 });
console.log(JSON.stringify({ tokensGenerated, tokensIngested }));
model.dispose();

/**
 * A real llama.cpp with two sequences, each with cells of its own: of one some tokens alone, and then of both as many together.
 *
 *     node sequences.mjs MODEL TOKENS
 */
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [modelPath, tokens] = process.argv.slice(2);
const engine = join(dirname(fileURLToPath(import.meta.url)), "..", "..", ".cache", "engine");
const { getLlama } = await import(pathToFileURL(join(engine, "node_modules", "node-llama-cpp", "dist", "index.js")).href);
const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, maxThreads: 1, logLevel: "error" });
const model = await llama.loadModel({ modelPath });
const context = await model.createContext({ sequences: 2, contextSize: 256, threads: { ideal: 1, min: 1 } });
const [first, second] = [context.getSequence(), context.getSequence()];

/** What is handed over in the same turn of the event loop is one batch. */
const generated = (sequence) => sequence.evaluate([300], { temperature: 0, yieldEogToken: true });
const alone = generated(first);
for (let i = 0; i < Number(tokens); i++) await alone.next();
await alone.return();
const both = [generated(first), generated(second)];
for (let i = 0; i < Number(tokens); i++) await Promise.all(both.map((one) => one.next()));
await llama.dispose();

/**
 * A real llama.cpp that does a known amount of work and says what it did: the subject of kernel tests.
 *
 *     node engine.mjs MODEL [--prompt 16] [--prompt-batch 512] [--tokens 32] [--threads 1] [--seed 1] [--mlock] [--no-mmap]
 *                           [--gpu-layers N] [--gpu vulkan] [--draft MODEL] [--chores FOLDER] [--wait-file PATH] [--stop-file PATH] [--log PATH] [--engine FOLDER] [--my-turn FIFO --other-turn FIFO]
 *
 * It loads the model, waits until the file at --wait-file exists (so that a tracer can attach to a quiet process first; a line
 * `{"waiting":PID}` says that it is there), decodes a prompt of --prompt token ids in batches of --prompt-batch, and samples --tokens
 * tokens. The last line on stdout, and the file at --log, is one JSON object, described by `EngineLog` in engine_log.ts.
 *
 * How many calls of llama_decode that is: ceil(prompt / promptBatch) for the prompt, the last of which yields the first token; then one
 * for each further token, because the token that was sampled last is never decoded: ceil(prompt / promptBatch) + tokens - 1. The batches
 * are also counted as they are handed over: node-llama-cpp asks the prioritization strategy once before each call of llama_decode.
 *
 * With --stop-file it does all of that again and again, forgetting what was said, until the file exists: for measurements that take longer than
 * a context lasts, at a cost of a token that stays the same.
 *
 * With --chores it asks more of the library: after each token it tokenizes a text and detokenizes the token; at the end it saves the sequence in that
 * folder, restores it, and forgets its last three positions.
 *
 * With --gpu-layers it puts so many layers on Vulkan's first device, which is Mesa's llvmpipe where there is no other: a device that computes on the CPU, with
 * memory, transfers and waits as others have. The layer behind the last is the output's. With --gpu cuda they go to a GPU that CUDA knows.
 *
 * With --draft it lets another model guess three or more tokens at a time (speculative decoding): `guesses` in the log says how many batches and guesses
 * there were and how many of them were right. What comes with the prompt is counted apart, and of the last batch nobody tells who looks at calls alone.
 *
 * With --my-turn and --other-turn it takes turns with another engine: it reads a byte from the one before each token, and writes one to the other
 * after it. Both have to be told to end: whoever does gives the other a last turn.
 */
import { existsSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { boottimeOffset } from "./boottime.mjs";

/** Asks whether who would have made a file is gone, and its folder with it. A folder that never was says nothing. */
function abandonment(path) {
  const folder = dirname(path), wasThere = existsSync(folder);
  return () => wasThere && !existsSync(folder);
}

const clock = boottimeOffset();
const now = () => process.hrtime.bigint() + clock.offsetNs;
const nodeStart = now() - BigInt(Math.round(process.uptime() * 1e9));

const here = dirname(fileURLToPath(import.meta.url));
const { values: options, positionals: [modelPath] } = parseArgs({
  allowPositionals: true,
  options: {
    "prompt": { type: "string", default: "16" },
    "prompt-batch": { type: "string", default: "512" },
    "tokens": { type: "string", default: "32" },
    "threads": { type: "string", default: "1" },
    "seed": { type: "string", default: "1" },
    "mlock": { type: "boolean", default: false },
    "no-mmap": { type: "boolean", default: false },
    "gpu-layers": { type: "string" },
    "gpu": { type: "string", default: "vulkan" },
    "draft": { type: "string" },
    "chores": { type: "string" },
    "wait-file": { type: "string" },
    "stop-file": { type: "string" },
    "log": { type: "string" },
    "my-turn": { type: "string" },
    "other-turn": { type: "string" },
    "engine": { type: "string", default: join(here, "..", "..", ".cache", "engine") },
  },
});
if (modelPath === undefined) throw new Error("Which model? node engine.mjs MODEL.gguf");
const prompt = positive("prompt");
const promptBatch = positive("prompt-batch");
const tokens = positive("tokens");
const threads = positive("threads");

/** Moments, in nanoseconds of CLOCK_BOOTTIME. */
const times = { processStart: processStart(), nodeStart };

const entry = join(options.engine, "node_modules", "node-llama-cpp", "dist", "index.js");
const { getLlama, DraftSequenceTokenPredictor } = await import(pathToFileURL(entry).href);
times.importEnd = now();
const gpuLayers = options["gpu-layers"] === undefined ? null : Number(options["gpu-layers"]);
// ggml passes a device of the CPU's kind by, unless it is asked for.
if (gpuLayers !== null) process.env.GGML_VK_VISIBLE_DEVICES = "0";
const llama = await getLlama({
  gpu: gpuLayers === null ? false : options.gpu,
  build: "never",
  skipDownload: true,
  maxThreads: threads,
  logLevel: "error",
});

times.modelLoadStart = now();
const model = await llama.loadModel({ modelPath, useMmap: !options["no-mmap"], useMlock: options.mlock, ...gpuLayers !== null && { gpuLayers } });
times.modelLoadEnd = now();

/** Tokens in each batch that was handed to llama_decode. */
const batches = [];
/** Guesses that had been right when each of them was. */
const rightBefore = [];
times.contextStart = now();
const context = await model.createContext({
  // Room for everything: a full context would be shifted, which costs extra calls.
  contextSize: prompt + tokens + 8,
  batchSize: promptBatch,
  threads: { ideal: threads, min: threads },
  batching: {
    itemPrioritizationStrategy({ items, size }) {
      const [item] = items;
      times.firstBatch ??= now();
      batches.push(Math.min(item.tokens.length, size));
      // Before 3.7 it guesses nothing.
      rightBefore.push(sequence.tokenPredictions?.validated ?? 0);
      return [{ item, processAmount: size }];
    },
  },
});
times.contextEnd = now();

if (options["wait-file"] !== undefined) {
  console.log(JSON.stringify({ waiting: process.pid }));
  const isAbandoned = abandonment(options["wait-file"]);
  while (!existsSync(options["wait-file"])) {
    if (isAbandoned()) process.exit(1);
    await pause(5);
  }
}

const draft = await drafting();
const sequence = context.getSequence({ tokenPredictor: draft?.predictor });
const tokenTimes = [];
/** Ids of the tokens that were sampled. */
const sampled = [];
/** CPU time of the process at each token, in microseconds. */
const tokenCpu = [];
const stopFile = options["stop-file"];
const isAbandoned = stopFile === undefined ? null : abandonment(stopFile);
const goOn = () => isAbandoned !== null && !existsSync(stopFile) && !isAbandoned();
// Opened for both directions: neither waits for the other to open it, nor ends with it.
const fifo = (path) => path === undefined ? null : openSync(path, "r+");
const myTurn = fifo(options["my-turn"]), otherTurn = fifo(options["other-turn"]);
const awaitTurn = () => myTurn !== null && readSync(myTurn, Buffer.alloc(1));
const passTurn = () => otherTurn !== null && writeSync(otherTurn, ".");
let rounds = 0;
awaitTurn();
times.generateStart = now();
do {
  let said = 0;
  for await (const token of sequence.evaluate(promptTokens(), { temperature: 0, yieldEogToken: true })) {
    tokenTimes.push(now());
    sampled.push(token);
    const { user, system } = process.cpuUsage();
    tokenCpu.push(user + system);
    if (options.chores !== undefined) {
      model.tokenize(`${tokenTimes.length} and the words behind`);
      model.detokenize([token]);
    }
    passTurn();
    const ends = options["stop-file"] !== undefined && !goOn();
    if (!ends) awaitTurn();
    if (++said === tokens || ends) break;
  }
  rounds++;
  if (goOn()) await sequence.clearHistory();
} while (goOn());
times.generateEnd = now();
// It guesses ahead: only now are its batches all that there will be.
await draft?.context.dispose();
if (options.chores !== undefined) {
  const saved = join(options.chores, "state");
  await sequence.saveStateToFile(saved);
  await sequence.loadStateFromFile(saved, { acceptRisk: true });
  const end = sequence.nextTokenIndex;
  await sequence.eraseContextTokenRanges([{ start: end - 3, end }]);
}
times.firstToken = tokenTimes[0];

const prefillDecodes = rounds * Math.ceil(prompt / promptBatch);
const generateDecodes = draft === null ? tokenTimes.length - rounds : batches.length - prefillDecodes;
const log = {
  pid: process.pid,
  model: modelPath,
  threads: context.currentThreads,
  prompt: { tokens: prompt, batch: promptBatch, decodes: prefillDecodes },
  generated: { tokens: tokenTimes.length, decodes: generateDecodes },
  decodes: prefillDecodes + generateDecodes,
  guesses: draft === null ? null : {
    withPrompt: batches[0] - prompt,
    guessed: sequence.tokenPredictions.validated + sequence.tokenPredictions.refuted - (batches[0] - prompt),
    /** In all batches between the first and the last one. */
    right: rightBefore.at(-1) - rightBefore[1],
    draftBatches: draft.batches.length,
  },
  promptIds: promptTokens(),
  sampledIds: sampled,
  /** What was seen, to be compared with what was computed. */
  batches,
  libraries: mappedLibraries(),
  clock: { name: "boottime", ...clock },
  times,
  tokenTimes,
  tokenCpu,
  readBytes: Number(/^read_bytes: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))[1]),
};
if (batches.length !== log.decodes) {
  throw new Error(`Expected ${log.decodes} calls of llama_decode and handed over ${batches.length} batches.`);
}
await llama.dispose();
times.end = now();
// JSON has no integers above 2^53, which nanoseconds since boot pass after 104 days: times are strings of digits.
const line = JSON.stringify(log, (_, value) => typeof value === "bigint" ? value.toString() : value);
if (options.log !== undefined) writeFileSync(options.log, `${line}\n`);
console.log(line);

function positive(name) {
  const number = Number(options[name]);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${name} must be a positive whole number, not ${options[name]}.`);
  return number;
}

/** A model that guesses, and the tokens in each of its batches; null without one. */
async function drafting() {
  if (options.draft === undefined) return null;
  const batches = [];
  const model = await llama.loadModel({ modelPath: options.draft });
  const context = await model.createContext({
    contextSize: prompt + tokens + 8,
    threads: { ideal: threads, min: threads },
    batching: {
      itemPrioritizationStrategy({ items, size }) {
        batches.push(Math.min(items[0].tokens.length, size));
        return [{ item: items[0], processAmount: size }];
      },
    },
  });
  return { batches, context, predictor: new DraftSequenceTokenPredictor(context.getSequence(), { minTokens: 3, maxTokens: 5, minConfidence: 0 }) };
}

/** Token ids of the prompt: any that are words, the same for the same seed. */
function promptTokens() {
  const words = model.fileInfo.metadata.tokenizer.ggml.tokens.length - 259;
  let state = positive("seed");
  return Array.from({ length: prompt }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return 259 + (state >>> 8) % words;
  });
}

/** The kernel's own word for when this process began, in clock ticks of 10 ms: field 22 of /proc/self/stat. */
function processStart() {
  const stat = readFileSync("/proc/self/stat", "utf8");
  const ticks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  return BigInt(ticks) * 10_000_000n;
}

/** Paths of the engine's libraries that are mapped now: of the CPU variants only the chosen one is left. */
function mappedLibraries() {
  const maps = readFileSync("/proc/self/maps", "utf8").split("\n");
  return [...new Set(maps.map((entry) => entry.split(/\s+/).slice(5).join(" ")).filter((path) => /\/lib(llama|ggml)/.test(path)))];
}

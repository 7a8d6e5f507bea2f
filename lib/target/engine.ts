import type { EngineFound } from "../events/fact.ts";
import { lastPart } from "../events/text.ts";
import { affinityIn } from "../machine/affinity.ts";
import type { KernelFiles } from "../machine/files.ts";
import { foreignText } from "./foreign_text.ts";
import { askedRepository, cachedModel, isWeights, weightsIn } from "./inference_files.ts";
import { type Mapping, parseMaps } from "./maps.ts";
import { wordsOf } from "./process.ts";

/** By what a process has mapped. Who uses others comes first: vLLM computes with PyTorch, llama.cpp with ggml. */
const ENGINES: readonly (readonly [string, RegExp])[] = [
  ["vLLM", /\/vllm\/[^/]*\.so$/],
  ["TensorRT", /\/libnvinfer\.[^/]*$/],
  ["llama.cpp", /\/libllama\.[^/]*$/],
  // Who asks it to compute may have PyTorch for the rest.
  ["OpenVINO", /\/libopenvino_\w+_plugin\.[^/]*$/],
  ["PyTorch", /\/libtorch_(cpu|cuda)\.so(\.\d+)*$/],
  ["ONNX Runtime", /\/libonnxruntime\.[^/]*$/],
  ["ggml", /\/libggml(-base)?\.[^/]*$/],
];
/** Engines of which nothing but the outside is seen. */
const CLOSED: readonly string[] = ["TensorRT", "OpenVINO", "ONNX Runtime"];
/** More processes are not looked at: workers of one server have mapped the same. */
const MOST_PROCESSES = 64;

/** The first of these processes that has mapped an engine's library, otherwise the first of all; null when none is left. */
export async function findEngine(files: KernelFiles, pids: readonly number[]): Promise<EngineFound | null> {
  const some = pids.slice(0, MOST_PROCESSES);
  const maps = (await files.texts(some.map((pid) => `/proc/${pid}/maps`))).map((text) => text === null ? null : parseMaps(text));
  const found = maps.map((mappings) => mappings && engineIn(mappings));
  const at = Math.max(found.findIndex((engine) => engine), 0);
  const mappings = maps[at];
  if (!mappings) return null;
  const pid = some[at]!, root = `/proc/${pid}/root`;
  const [status, words] = await files.texts([`/proc/${pid}/status`, `/proc/${pid}/cmdline`]);
  const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)$`, "m").exec(status ?? "")?.[1] ?? null;
  const argv = wordsOf(words ?? ""), model = modelOf(mappings, argv);
  const threads = field("Threads");
  return {
    engine: found[at]?.name ?? null,
    version: found[at] ? await versionOf(files, root, found[at].path) : null,
    model,
    quantisation: model && (quantisationOf(model) ?? quantisationOf(askedRepository(argv) ?? "")),
    threads: threads === null ? null : Number(threads),
    affinity: affinityIn(status),
  };
}

/** Whether its operators can be seen, as far as is known. */
export function hasOperators(engine: string | null): boolean {
  return engine === null || !CLOSED.includes(engine);
}

function engineIn(mappings: readonly Mapping[]): { readonly name: string; readonly path: string } | undefined {
  for (const [name, library] of ENGINES) {
    const mapping = mappings.find(({ path }) => library.test(path));
    if (mapping) return { name, path: mapping.path };
  }
}

/**
 * `libllama.so.0.0.5760`, `libllama.v0.5.0.so`; PyTorch, unless it is packed by a distribution (`libtorch_cpu.so.1.13.0`), says it in a file beside its
 * libraries.
 */
async function versionOf(files: KernelFiles, root: string, library: string): Promise<string | null> {
  const [, behind, within] = /\.so\.(\d+(?:\.\d+)+)$|\.v(\d+(?:\.\d+)+)\.so$/.exec(library) ?? [];
  const numbered = behind ?? within;
  if (numbered !== undefined) return numbered;
  const torch = /^(.*\/torch)\/lib\/[^/]+$/.exec(library)?.[1];
  const said = torch === undefined ? null : await foreignText(files, `${root}${torch}/version.py`);
  return /^__version__ = '([^']+)'/m.exec(said ?? "")?.[1] ?? null;
}

/** The largest that is mapped; where none is, or that has a number for a name, the first on the command line. */
function modelOf(mappings: readonly Mapping[], words: readonly string[]): string | null {
  const sizes = new Map<string, number>();
  for (const { path, start, end } of mappings) if (isWeights(path)) sizes.set(path, (sizes.get(path) ?? 0) + Number(end - start));
  const largest = [...sizes].sort(([, a], [, b]) => b - a)[0]?.[0], cached = largest && cachedModel(largest);
  if (largest !== undefined && cached === undefined) return lastPart(largest);
  return words.map(weightsIn).find((name) => name !== undefined) ?? cached ?? null;
}

/** `llama-7b.Q4_K_M.gguf`: what people write into names. The file would say it too, but to read it brings it into the page cache, which is looked at. */
export function quantisationOf(name: string): string | null {
  const found = /(?:^|[.\-_:])((?:I?Q|TQ)\d\w*|(?:MX|NV)FP4(?:_MOE)?|BF16|FP?16|FP?32|FP8|INT[48]|AWQ|GPTQ)(?=[.\-]|$)/i.exec(name)?.[1];
  return found?.toUpperCase() ?? null;
}

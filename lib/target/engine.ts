import type { KernelFiles } from "../machine/files.ts";
import { isWeights } from "./inference_files.ts";
import { type Mapping, parseMaps } from "./maps.ts";
import { splitZeros } from "./process.ts";

/** What infers in a process, with what, and on what it may run. Null: it could not be found out. */
export interface EngineFound {
  readonly engine: string | null;
  readonly version: string | null;
  /** Name of the file, without its folders. */
  readonly model: string | null;
  readonly quantisation: string | null;
  /** Of the process, when it was looked at. */
  readonly threads: number | null;
  /** Processors on which it may run: `0-3,8`. */
  readonly affinity: string | null;
}

/** By what a process has mapped. Who uses others comes first: vLLM computes with PyTorch, llama.cpp with ggml. */
const ENGINES: readonly (readonly [string, RegExp])[] = [
  ["vLLM", /\/vllm\/[^/]*\.so$/],
  ["TensorRT", /\/libnvinfer\.[^/]*$/],
  ["llama.cpp", /\/libllama\.[^/]*$/],
  ["PyTorch", /\/libtorch_(cpu|cuda)\.so$/],
  ["ONNX Runtime", /\/libonnxruntime\.[^/]*$/],
  ["ggml", /\/libggml(-base)?\.[^/]*$/],
];
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
  const model = modelOf(mappings, splitZeros(words ?? ""));
  const threads = field("Threads");
  return {
    engine: found[at]?.name ?? null,
    version: found[at] ? await versionOf(files, root, found[at].path) : null,
    model: model && nameOf(model),
    quantisation: model &&
      (quantisationIn(model.startsWith("/") ? await files.bytes(`${root}${model}`, 0, HEAD) : null) ?? quantisationOf(nameOf(model))),
    threads: threads === null ? null : Number(threads),
    affinity: field("Cpus_allowed_list"),
  };
}

function engineIn(mappings: readonly Mapping[]): { readonly name: string; readonly path: string } | undefined {
  for (const [name, library] of ENGINES) {
    const mapping = mappings.find(({ path }) => library.test(path));
    if (mapping) return { name, path: mapping.path };
  }
}

/** `libllama.so.0.0.5760`, `libllama.v0.5.0.so`; PyTorch says it in a file beside its libraries. */
async function versionOf(files: KernelFiles, root: string, library: string): Promise<string | null> {
  const [, behind, within] = /\.so\.(\d+(?:\.\d+)+)$|\.v(\d+(?:\.\d+)+)\.so$/.exec(library) ?? [];
  if (behind ?? within) return (behind ?? within)!;
  const torch = /^(.*\/torch)\/lib\/[^/]+$/.exec(library)?.[1];
  const said = torch === undefined ? null : await files.text(`${root}${torch}/version.py`);
  return /^__version__ = '([^']+)'/m.exec(said ?? "")?.[1] ?? null;
}

/** The largest that is mapped; where none is, the first on the command line. */
function modelOf(mappings: readonly Mapping[], words: readonly string[]): string | null {
  const sizes = new Map<string, number>();
  for (const { path, start, end } of mappings) if (isWeights(path)) sizes.set(path, (sizes.get(path) ?? 0) + Number(end - start));
  const [largest] = [...sizes].sort(([, a], [, b]) => b - a);
  return largest?.[0] ?? words.map((word) => word.replace(/^-[^=]*=/, "")).find(isWeights) ?? null;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The beginning of a GGUF, where it says what it is. */
const HEAD = 1 << 16;
/** `LLAMA_FTYPE_*` of llama.cpp's llama.h, by number. */
const FILE_TYPES: Readonly<Record<number, string>> = {
  ...Object.fromEntries(["F32", "F16", "Q4_0", "Q4_1"].map((name, i) => [i, name])),
  ...Object.fromEntries(["Q8_0", "Q5_0", "Q5_1", "Q2_K", "Q3_K_S", "Q3_K_M", "Q3_K_L", "Q4_K_S", "Q4_K_M", "Q5_K_S"].map((name, i) => [7 + i, name])),
  ...Object.fromEntries(["Q5_K_M", "Q6_K", "IQ2_XXS", "IQ2_XS", "Q2_K_S", "IQ3_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL"].map((name, i) => [17 + i, name])),
  ...Object.fromEntries(["IQ3_S", "IQ3_M", "IQ2_S", "IQ2_M", "IQ4_XS", "IQ1_M", "BF16"].map((name, i) => [26 + i, name])),
  36: "TQ1_0",
  37: "TQ2_0",
  38: "MXFP4",
};

/** A text of GGUF is its length and its letters; a number of 32 bits has type 4. */
export function quantisationIn(head: Uint8Array | null): string | null {
  if (!head || head.length < 4 || new TextDecoder().decode(head.subarray(0, 4)) !== "GGUF") return null;
  const at = new TextDecoder("latin1").decode(head).indexOf("general.file_type\x04\0\0\0");
  if (at < 0 || at + 25 > head.length) return null;
  const type = new DataView(head.buffer, head.byteOffset).getUint32(at + 21, true);
  return FILE_TYPES[type] ?? `file type ${type}`;
}

/** `llama-7b.Q4_K_M.gguf`: what people write into names. */
export function quantisationOf(name: string): string | null {
  const found = /(?:^|[.\-_])((?:I?Q|TQ)\d\w*|MXFP4|BF16|FP?16|FP?32|FP8|INT[48]|AWQ|GPTQ)(?=[.\-]|$)/i.exec(name)?.[1];
  return found?.toUpperCase() ?? null;
}

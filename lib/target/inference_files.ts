import { lastPart } from "../events/text.ts";

/** By its kind; whisper.cpp's and OpenVINO's name that first, ollama's are called by what is in them. A name from a probe is cut after 64 bytes. */
const WEIGHTS = /\.(gguf|ggml|safetensors|pth|pt|onnx|engine|plan|tflite)$|^(ggml-[\w.-]+|openvino_[\w-]*model)\.bin$|^sha256-[0-9a-f]{57,64}…?$/i;
/** Of OpenVINO what makes a device ready for it: the rest may be linked into what filters videos (ffmpeg). */
const LIBRARIES = /^lib(llama|ggml|torch_cpu|torch_cuda|nvinfer|onnxruntime|openvino_\w+_plugin|cudart|vllm)[\w.-]*\.so(\.\d+)*$/;
const GPU_DRIVERS = /^lib(cuda|amdhip64|vulkan|ze_loader)\.so/;

/** Whether a file holds a model, by its name, or by its folders as far as they are told: other caches call their files by numbers, too. */
export function isWeights(path: string): boolean {
  return WEIGHTS.test(lastPart(path)) || cachedModel(path) !== undefined;
}

/**
 * The file of weights that a word of a command line names, without its folders; `--model=` may stand in front. A word that holds more, as the one that
 * `sh -c` is given does, names none, whatever it ends in; nor does a number, as secrets are.
 */
export function weightsIn(word: string): string | undefined {
  const name = /^(?:-[\w-]*=)?(?:[^\s'"]*\/)?([\w.+-]+)$/.exec(word)?.[1];
  return name !== undefined && WEIGHTS.test(name) ? name : undefined;
}

/** What a model is called in whose folder of Hugging Face's cache a large file lies, without whose it is: `hub/models--ORG--NAME/blobs/<64 digits>`. */
export function cachedModel(path: string): string | undefined {
  return /\/models--(?:[^/]+--)?([^/]+)\/blobs\/[0-9a-f]{64}$/.exec(path)?.[1];
}

/** What llama.cpp is asked to bring of Hugging Face (`-hf ORG/NAME:Q4_K_M`). */
export function askedRepository(words: readonly string[]): string | undefined {
  return words.find((_, i) => /^(-hfr?|--hf-repo)$/.test(words[i - 1] ?? ""));
}

/** Whether a file holds a model or is a library of an inference engine, by its path or what is told of it: who maps it computes. */
export function isOfInference(path: string): boolean {
  return isWeights(path) || LIBRARIES.test(lastPart(path));
}

/** Whether that is a library which is mapped by helpers, too, that only ask which devices there are: llama.cpp's, ggml's, CUDA's. */
export function isHelpers(name: string): boolean {
  return isGgml(name) || (LIBRARIES.test(name) && name.startsWith("libcudart"));
}

/** Whether that is a library which only those map that compute on a GPU: it starts one, which takes a good part of a second. */
export function isGpuDriver(name: string): boolean {
  return GPU_DRIVERS.test(name);
}

/** Whether that is the library of llama.cpp, or a part of ggml. */
export function isGgml(name: string): boolean {
  return LIBRARIES.test(name) && /^lib(llama\.|ggml)/.test(name);
}

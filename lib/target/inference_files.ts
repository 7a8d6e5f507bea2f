/** By its kind; whisper.cpp's name the kind first, and ollama's are called by what is in them. A name from a probe is cut after 64 bytes. */
const WEIGHTS = /\.(gguf|ggml|safetensors|pth|pt|onnx|engine|plan|tflite)$|^ggml-[\w.-]+\.bin$|^sha256-[0-9a-f]{57,64}$/i;
const LIBRARIES = /^lib(llama|ggml|torch_cpu|torch_cuda|nvinfer|onnxruntime|cudart|vllm)[\w.-]*\.so(\.\d+)*$/;

/** Whether a file holds a model, by its name. */
export function isWeights(name: string): boolean {
  return WEIGHTS.test(name);
}

/**
 * The file of weights that a word of a command line names, without its folders; `--model=` may stand in front. A word that holds more, as the one that
 * `sh -c` is given does, names none, whatever it ends in.
 */
export function weightsIn(word: string): string | undefined {
  const name = /^(?:-[\w-]*=)?(?:[^\s'"]*\/)?([\w.+-]+)$/.exec(word)?.[1];
  return name !== undefined && isWeights(name) ? name : undefined;
}

/** Whether a file holds a model or is a library of an inference engine, by its name without folders: who maps it computes. */
export function isOfInference(name: string): boolean {
  return isWeights(name) || LIBRARIES.test(name);
}

/** Whether that is a library which is mapped by helpers, too, that only ask which devices there are: llama.cpp's, ggml's, CUDA's. */
export function isHelpers(name: string): boolean {
  return isGgml(name) || (LIBRARIES.test(name) && name.startsWith("libcudart"));
}

/** Whether that is the library of llama.cpp, or a part of ggml. */
export function isGgml(name: string): boolean {
  return LIBRARIES.test(name) && /^lib(llama\.|ggml)/.test(name);
}

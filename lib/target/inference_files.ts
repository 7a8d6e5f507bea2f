const WEIGHTS = /\.(gguf|ggml|safetensors|pth|pt|onnx|engine|plan|tflite)$/i;
const LIBRARIES = /^lib(llama|ggml|torch_cpu|torch_cuda|nvinfer|onnxruntime|cudart|vllm)[\w.-]*\.so(\.\d+)*$/;

/** Whether a file holds a model, by its name. */
export function isWeights(name: string): boolean {
  return WEIGHTS.test(name);
}

/** Whether a file is a library of an inference engine, by its name without folders. */
export function isInferenceLibrary(name: string): boolean {
  return LIBRARIES.test(name);
}

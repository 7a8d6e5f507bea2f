/** What engines are told so that they read weights at once, or map them, each with the engine's name. */
interface LoadFlags {
  readonly atOnce: string;
  readonly mapped: string;
}

/** Its one flag has replaced the others, which it refuses since b10884; what is older knows those alone. */
const LLAMA: LoadFlags = {
  atOnce: "llama.cpp's --load-mode none or mmap+mlock (--no-mmap or --mlock in older ones)",
  mapped: "llama.cpp's --load-mode mmap, in older ones no --no-mmap",
};

const SAFETENSORS: LoadFlags = {
  atOnce: "vLLM's --safetensors-load-strategy eager or SGLang's --weight-loader-disable-mmap",
  mapped: "vLLM's --safetensors-load-strategy lazy, SGLang's default",
};

/** Of those that load such a file; null where its name does not say who does. */
export function loadFlags(file: string): LoadFlags | null {
  if (/\.safetensors$/i.test(file)) return SAFETENSORS;
  return /\.gguf$/i.test(file) ? LLAMA : null;
}

/** Where nobody knows which file it is. */
export const AT_ONCE = `${LLAMA.atOnce}, ${SAFETENSORS.atOnce}`;
export const MAPPED = LLAMA.mapped;
export const LOCKED = "llama.cpp's --load-mode mmap+mlock, in older ones --mlock";
export const THREADS = "llama.cpp's -t, PyTorch's OMP_NUM_THREADS";
export const CONTEXT = "llama.cpp's -c";

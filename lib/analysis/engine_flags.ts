/** Each with the engine's name. llama.cpp's one flag has replaced the others, which it refuses since b10884; what is older knows those alone. */
const OF_GGUF = "llama.cpp's --load-mode none or mmap+mlock (--no-mmap or --mlock in older ones)";
const OF_SAFETENSORS = "vLLM's --safetensors-load-strategy eager or SGLang's --weight-loader-disable-mmap";

/** What engines are told so that they read such a file of weights at once; null where its name does not say who loads it. */
export function atOnceFlags(file: string): string | null {
  if (/\.safetensors$/i.test(file)) return OF_SAFETENSORS;
  return isGguf(file) ? OF_GGUF : null;
}

/** What engines are told that compute in a mapping of such a file: those that load others copy each tensor out of it. */
export function mappingFlags(file: string): string | null {
  return isGguf(file) ? MAPPED : null;
}

function isGguf(file: string): boolean {
  return /\.gguf$/i.test(file);
}

/** Where nobody knows which file it is. */
export const AT_ONCE = `${OF_GGUF}, ${OF_SAFETENSORS}`;
export const MAPPED = "llama.cpp's --load-mode mmap, in older ones no --no-mmap";
export const LOCKED = "llama.cpp's --load-mode mmap+mlock, in older ones --mlock";
export const THREADS = "llama.cpp's -t, PyTorch's OMP_NUM_THREADS";
export const CONTEXT = "llama.cpp's -c";

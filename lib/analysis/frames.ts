const MAX_FRAMES = 8;

/** The innermost frames of a stack in a row, as many as a table has room for. */
export function firstFrames(frames: readonly string[]): string {
  return frames.slice(0, MAX_FRAMES).join(" ← ") + (frames.length > MAX_FRAMES ? " ← …" : "");
}

/** Of libraries that drive a GPU, and of those that compute with it for others. */
const GPU_LIBRARY = /\b(?:libcuda|libcudart|libcublas|libcublasLt|libcudnn\w*|libnccl|libamdhip64|libvulkan|libze_loader|libnvinfer)[-.]/;

/** A stack from the call of such a library on: what one does inside says nothing of who asked for memory. */
export function fromWithout(frames: readonly string[]): readonly string[] {
  const first = frames.findIndex((frame) => !GPU_LIBRARY.test(frame));
  return first > 0 ? frames.slice(first - 1) : frames;
}

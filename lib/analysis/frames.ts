import { isGpuLibrary } from "../target/system_names.ts";

const MAX_FRAMES = 8;

/** The innermost frames of a stack in a row, as many as a table has room for. */
export function firstFrames(frames: readonly string[]): string {
  return frames.slice(0, MAX_FRAMES).join(" ← ") + (frames.length > MAX_FRAMES ? " ← …" : "");
}

/** `cudaMalloc (libcudart.so.13)`, `libcudart.so.13+0x41b5e`. */
const LIBRARY = / \(([^()]+)\)$|^(\S+)\+0x[\da-f]+$/;

function isInGpuLibrary(frame: string): boolean {
  const found = LIBRARY.exec(frame);
  return found !== null && isGpuLibrary(found[1] ?? found[2]!);
}

/**
 * A stack from the call of a library on that drives a GPU, or computes with it for others: what one does inside says nothing of who asked for memory.
 */
export function fromWithout(frames: readonly string[]): readonly string[] {
  const first = frames.findIndex((frame) => !isInGpuLibrary(frame));
  return first > 0 ? frames.slice(first - 1) : frames;
}

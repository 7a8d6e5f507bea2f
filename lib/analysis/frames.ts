const MAX_FRAMES = 4;

/** The innermost frames of a stack in a row, as many as a table has room for. */
export function firstFrames(frames: readonly string[]): string {
  return frames.slice(0, MAX_FRAMES).join(" ← ") + (frames.length > MAX_FRAMES ? " ← …" : "");
}

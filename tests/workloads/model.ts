/**
 * Writes a GGUF model with random Q4_0 weights: no weights can be downloaded where these tests run, and a profiler does not care what an
 * engine computes. Deterministic: the same shape gives the same bytes.
 *
 *     deno run -A tests/workloads/model.ts tiny small
 */
import { join } from "node:path";
import { cache } from "../harness/places.ts";
import { ownName } from "../harness/temporary.ts";
import { aligned, ggufHeader, tensorBytes } from "./gguf.ts";
import { llamaTensors, llamaValues } from "./llama.ts";
import { routedContent } from "./router.ts";
import { randomF32, randomQ4, xorshift } from "./random.ts";
import { type Shape, type ShapeName, shapes } from "./shapes.ts";

/** Path of the model with this name, written first when it is not there or of another shape. */
export function model(name: ShapeName): string {
  const path = join(cache, "models", `${name}.gguf`);
  writeModel(path, shapes[name]);
  return path;
}

/** Writes the model unless the file there begins and ends as it would. */
export function writeModel(path: string, shape: Shape): void {
  const tensors = llamaTensors(shape);
  const header = ggufHeader(llamaValues(shape), tensors);
  const size = tensors.reduce((bytes, tensor) => bytes + aligned(tensorBytes(tensor)), header.length);
  if (isWritten(path, header, size)) return;
  Deno.mkdirSync(join(path, ".."), { recursive: true });
  // Renamed when complete: a run that was interrupted leaves no half model behind.
  const partial = `${path}.${ownName}`;
  const file = Deno.openSync(partial, { write: true, create: true, truncate: true });
  try {
    const write = writer(file);
    write(header);
    const weights = { f32: randomF32(xorshift(shape.seed)), q4_0: randomQ4(xorshift(shape.seed + 1)) };
    for (const tensor of tensors) {
      const bytes = tensorBytes(tensor);
      const known = shape.router === "known" ? routedContent(tensor, shape) : undefined;
      // Norms of exactly 1 leave what the layers add to each other at the scale of the weights, so that logits stay finite.
      const source = known ?? (tensor.name.includes("norm") ? ones(bytes) : weights[tensor.type]);
      repeat(source, bytes, known ? 0 : tensor.name.length * START, write);
      write(new Uint8Array(aligned(bytes) - bytes));
    }
  } finally {
    file.close();
  }
  Deno.renameSync(partial, path);
}

function isWritten(path: string, header: Uint8Array, size: number): boolean {
  try {
    if (Deno.statSync(path).size !== size) return false;
  } catch {
    return false;
  }
  using file = Deno.openSync(path);
  const there = new Uint8Array(header.length);
  for (let at = 0; at < there.length;) at += file.readSync(there.subarray(at)) ?? there.length;
  return there.every((byte, index) => byte === header[index]);
}

/** Tensors begin somewhere else in the source, each at a whole block of Q4_0 and at a whole number. */
const START = 18 * 14;

/** Fills `bytes` from a short random source again and again: random enough, and as fast as the disk. */
function repeat(source: Uint8Array, bytes: number, start: number, write: (bytes: Uint8Array) => void): void {
  let at = start % source.length;
  for (let left = bytes; left > 0;) {
    const piece = source.subarray(at, at + Math.min(left, source.length - at));
    write(piece);
    left -= piece.length;
    at = 0;
  }
}

function ones(bytes: number): Uint8Array {
  return new Uint8Array(new Float32Array(bytes / 4).fill(1).buffer);
}

function writer(file: Deno.FsFile): (bytes: Uint8Array) => void {
  return (bytes) => {
    for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
  };
}

if (import.meta.main) {
  for (const name of Deno.args) {
    if (!Object.hasOwn(shapes, name)) throw new Error(`No model is called ${name}. There are: ${Object.keys(shapes).join(", ")}.`);
    console.log(model(name as ShapeName));
  }
}

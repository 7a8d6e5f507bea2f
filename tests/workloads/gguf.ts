/**
 * The container format of llama.cpp's models, as far as a generated model needs it: a header, typed key-values, a table of tensors, and
 * the tensors' data, each at a multiple of 32 bytes. Written from the format's description in ggml's docs (version 3, little endian).
 */

/** What a value may be: the number types are told apart, because a reader refuses a key whose type it does not expect. */
export type GgufValue =
  | { readonly u32: number }
  | { readonly f32: number }
  | { readonly text: string }
  | { readonly texts: readonly string[] }
  | { readonly f32s: readonly number[] }
  | { readonly i32s: readonly number[] };

/** A tensor's name, extents (fastest first) and element type. */
export interface GgufTensor {
  readonly name: string;
  readonly extents: readonly number[];
  readonly type: "f32" | "q4_0";
}

/** Q4_0 keeps 32 weights in 18 bytes: a half-precision scale and 16 bytes of nibbles. */
const q4Block = { weights: 32, bytes: 18 } as const;

const alignment = 32;
const typeIds = { f32: 0, q4_0: 2 } as const;

/** Bytes of a tensor's data, without padding. */
export function tensorBytes(tensor: GgufTensor): number {
  const elements = tensor.extents.reduce((product, extent) => product * extent, 1);
  return tensor.type === "f32" ? elements * 4 : elements / q4Block.weights * q4Block.bytes;
}

/** Rounds up to where the next tensor may begin. */
export function aligned(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}

/** Everything before the first tensor's data, padded to the alignment. */
export function ggufHeader(values: Readonly<Record<string, GgufValue>>, tensors: readonly GgufTensor[]): Uint8Array<ArrayBuffer> {
  const out = new Writer();
  out.bytes(new TextEncoder().encode("GGUF"));
  out.u32(3);
  out.u64(tensors.length);
  out.u64(Object.keys(values).length);
  for (const [key, value] of Object.entries(values)) {
    out.text(key);
    writeValue(out, value);
  }
  let offset = 0;
  for (const tensor of tensors) {
    out.text(tensor.name);
    out.u32(tensor.extents.length);
    for (const extent of tensor.extents) out.u64(extent);
    out.u32(typeIds[tensor.type]);
    out.u64(offset);
    offset += aligned(tensorBytes(tensor));
  }
  return out.padded();
}

function writeValue(out: Writer, value: GgufValue): void {
  if ("u32" in value) out.u32(4), out.u32(value.u32);
  else if ("f32" in value) out.u32(6), out.f32(value.f32);
  else if ("text" in value) out.u32(8), out.text(value.text);
  else if ("texts" in value) out.array(8, value.texts, (text) => out.text(text));
  else if ("f32s" in value) out.array(6, value.f32s, (number) => out.f32(number));
  else out.array(5, value.i32s, (number) => out.u32(number));
}

/** Grows as it is written to. */
class Writer {
  #buffer = new Uint8Array(1 << 16);
  #view = new DataView(this.#buffer.buffer);
  #length = 0;

  bytes(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length);
    this.#buffer.set(bytes, at);
  }

  u32(value: number): void {
    const at = this.#reserve(4);
    this.#view.setUint32(at, value >>> 0, true);
  }

  u64(value: number): void {
    const at = this.#reserve(8);
    this.#view.setBigUint64(at, BigInt(value), true);
  }

  f32(value: number): void {
    const at = this.#reserve(4);
    this.#view.setFloat32(at, value, true);
  }

  text(text: string): void {
    const bytes = new TextEncoder().encode(text);
    this.u64(bytes.length);
    this.bytes(bytes);
  }

  array<T>(type: number, items: readonly T[], write: (item: T) => void): void {
    this.u32(9);
    this.u32(type);
    this.u64(items.length);
    for (const item of items) write(item);
  }

  padded(): Uint8Array<ArrayBuffer> {
    this.#reserve(aligned(this.#length) - this.#length);
    return this.#buffer.slice(0, this.#length);
  }

  #reserve(bytes: number): number {
    const at = this.#length;
    this.#length += bytes;
    if (this.#length > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(this.#length, this.#buffer.length * 2));
      grown.set(this.#buffer);
      this.#buffer = grown;
      this.#view = new DataView(grown.buffer);
    }
    return at;
  }
}

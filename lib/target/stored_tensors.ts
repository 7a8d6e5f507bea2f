import type { StoredTensor } from "../events/fact.ts";
import type { ByteReader } from "./elf.ts";

/** A header is at most so long: vocabularies of a hundred thousand words are a few megabytes. */
const FIRST_READ = 1 << 20, LONGEST_HEADER = 1 << 28;
/** They are one line of a recording. */
const MOST_TENSORS = 20_000, LONGEST_NAME = 200;
/** Parts of its name: `model.language_model.layers.3.mlp.experts.17.gate_proj`. */
const DEEPEST_MODULE = 8;

/** The header is longer than what was read of it. */
const SHORT = Symbol();
type Parse = (head: DataView) => StoredTensor[] | typeof SHORT;

/**
 * Which tensors a model's file holds (GGUF, safetensors), in the order of their offsets, whatever its name is: the cache of a hub names files by their
 * hash. Null for every other file, and for one that is damaged.
 */
export async function readStoredTensors(read: ByteReader): Promise<StoredTensor[] | null> {
  const parse = parserOf(await read(0, 16));
  if (!parse) return null;
  for (let bytes = FIRST_READ; bytes <= LONGEST_HEADER; bytes *= 8) {
    const head = await read(0, bytes);
    if (!head) return null;
    const found = parsed(parse, new DataView(head.buffer, head.byteOffset, head.byteLength));
    if (found === null) return null;
    if (found !== SHORT) return together(inOrder(found));
    if (head.length < bytes) return null;
  }
  return null;
}

function parserOf(magic: Uint8Array | null): Parse | null {
  if (!magic || magic.length < 16) return null;
  const view = new DataView(magic.buffer, magic.byteOffset, magic.byteLength);
  if (view.getUint32(0) === GGUF) return parseGguf;
  // The length of a JSON object, and its beginning.
  return view.getBigUint64(0, true) <= LONGEST_HEADER && magic[8] === 0x7b ? parseSafetensors : null;
}

function parsed(parse: Parse, head: DataView): StoredTensor[] | typeof SHORT | null {
  try {
    return parse(head);
  } catch (error) {
    // Somebody read behind the end.
    return error instanceof RangeError ? SHORT : null;
  }
}

function inOrder(tensors: StoredTensor[]): StoredTensor[] {
  const known = tensors.filter(({ offset }) => Number.isSafeInteger(offset) && offset >= 0);
  return known.map(({ name, offset }) => ({ name: name.slice(0, LONGEST_NAME), offset })).sort((a, b) => a.offset - b.offset);
}

/**
 * A quantised mixture may have hundreds of thousands. Of too many, neighbours in a module become one, `layers.3.mlp.experts.*`, those of the deepest
 * modules first; null where that is not enough.
 */
function together(tensors: StoredTensor[]): StoredTensor[] | null {
  let told = tensors;
  for (let depth = DEEPEST_MODULE; told.length > MOST_TENSORS; depth--) {
    if (depth === 0) return null;
    told = inModules(told, depth);
  }
  return told;
}

/** `depth`: of how many parts the name of a module is. */
function inModules(tensors: readonly StoredTensor[], depth: number): StoredTensor[] {
  const told: StoredTensor[] = [];
  let module: string | undefined;
  for (const tensor of tensors) {
    const { name } = tensor, end = endOfModule(name, depth);
    if (module?.length === end && name.startsWith(module)) told[told.length - 1] = { name: `${module}.*`, offset: told.at(-1)!.offset };
    else {
      told.push(tensor);
      module = name.slice(0, end);
    }
  }
  return told;
}

function endOfModule(name: string, depth: number): number {
  let end = -1;
  for (let part = 0; part < depth; part++) {
    end = name.indexOf(".", end + 1);
    if (end < 0) return name.length;
  }
  return end;
}

/** `GGUF`. The format: docs/gguf.md of ggml. */
const GGUF = 0x47475546;
/** By the number of a value's type: bytes of a number; 8 is a text, and 9 a list. */
const NUMBERS: Readonly<Record<number, number>> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };
const TEXT = 8, LIST = 9;
const USUAL_ALIGNMENT = 32, DEEPEST = 4;

/** From version 2 on lengths have 64 bits. Nothing is in it that is longer than what was read, so that no length is believed. */
function parseGguf(head: DataView): StoredTensor[] {
  let at = 4;
  const u32 = () => head.getUint32((at += 4) - 4, true);
  const u64 = () => Number(head.getBigUint64((at += 8) - 8, true));
  const length = u32() >= 2 ? u64 : u32;
  const pass = (bytes: number) => {
    at += bytes;
    if (!(at <= head.byteLength)) throw new RangeError();
  };
  const text = () => {
    const bytes = length();
    pass(bytes);
    return new TextDecoder().decode(new Uint8Array(head.buffer, head.byteOffset + at - bytes, bytes));
  };
  const skip = (type: number, depth = 0): void => {
    if (type === TEXT) pass(length());
    else if (type === LIST) {
      const [of, count] = [u32(), length()];
      if (NUMBERS[of] !== undefined) pass(NUMBERS[of] * count);
      else if (depth > DEEPEST) throw new Error("lists in lists");
      else for (let i = 0; i < count; i++) skip(of, depth + 1);
    } else if (NUMBERS[type] !== undefined) pass(NUMBERS[type]);
    else throw new Error("no type of a value");
  };
  const [tensorCount, valueCount] = [length(), length()];
  let alignment = USUAL_ALIGNMENT;
  for (let i = 0; i < valueCount; i++) {
    const [key, type] = [text(), u32()];
    if (key === "general.alignment" && type === 4) alignment = u32();
    else skip(type);
  }
  const tensors: StoredTensor[] = [];
  for (let i = 0; i < tensorCount; i++) {
    const name = text();
    const dimensions = u32();
    // With its type.
    pass(dimensions * (length === u64 ? 8 : 4) + 4);
    tensors.push({ name, offset: u64() });
  }
  const data = Math.ceil(at / alignment) * alignment;
  return tensors.map(({ name, offset }) => ({ name, offset: data + offset }));
}

/** The length of a JSON object, the object, and the data. The format: the README of safetensors. */
function parseSafetensors(head: DataView): StoredTensor[] {
  const bytes = Number(head.getBigUint64(0, true));
  const json = new TextDecoder().decode(new Uint8Array(head.buffer, head.byteOffset + 8, bytes));
  const told: Record<string, { readonly data_offsets?: readonly number[] }> = JSON.parse(json);
  return Object.entries(told).flatMap(([name, { data_offsets: range }]) => {
    const offset = range?.[0];
    return typeof offset === "number" ? [{ name, offset: 8 + bytes + offset }] : [];
  });
}

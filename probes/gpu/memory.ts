import type { Ns } from "../../lib/events/time.ts";
import { AddressSpace } from "../memory/address_space.ts";
import { isSame, type Place } from "./devices.ts";
import type { Family } from "./signatures.ts";

/** What kind of memory was asked for: see tables.ts. */
export type MemoryKind = "device" | "managed" | "pooled" | "host" | "registered" | "physical" | "array";

/** Memory that is held for a GPU. */
export interface Block {
  readonly address: number;
  /** Undefined: nothing says how many, as of an array. */
  readonly bytes: number | undefined;
  readonly memory: MemoryKind;
  /** -1: the host's. */
  readonly device: number;
  /** Where it was asked for: it is gone when that is. */
  readonly place: Place;
  /** Since its allocation returned. */
  readonly at: Ns;
  /** How it came about, where that was asked for. */
  readonly stack: number | undefined;
}

/** What lies at an address. `device`: undefined where nobody said which it is. */
export interface Lying {
  readonly memory: MemoryKind;
  readonly device: number | undefined;
}

/** Below all handles. */
const FIRST_UNNAMED = -(2 ** 52);
/** Handles of physical memory are numbers of their own, below all addresses. */
const handles = new Set<MemoryKind>(["physical", "array"]);

/** What the processes of a target hold, as far as they were seen to ask for it. */
export class HeldMemory {
  /** By process; in each by address or handle, with handles below 0. */
  readonly #blocks = new Map<number, Map<number, Block>>();
  /** Physical memory, by process and handle: who keeps it. It is let go when nobody does. */
  readonly #kept = new Map<string, { handles: number; mappings: number }>();
  /** By process and address: what is mapped there. */
  readonly #mapped = new Map<number, Map<number, number>>();
  /** For mapped memory without a handle. */
  #unnamed = FIRST_UNNAMED;
  /** By process: which kind of memory lies where. */
  readonly #spaces = new Map<number, AddressSpace>();
  /** See {@link sumOf}. */
  readonly #bytes = new Map<string, number>();

  /**
   * By a call that began then. Returns null where it is held since: the runtime asks the driver, and both say so, or it mapped physical memory there. Then it
   * is the outer call's, whose stack is the program's also where the runtime keeps no frame pointers. Otherwise returns what was held there before, which has been let go by a call that is still to be told of, or that nobody saw.
   */
  hold(pid: number, block: Block, began: Ns): readonly Block[] | null {
    let blocks = this.#blocks.get(pid);
    if (!blocks) this.#blocks.set(pid, blocks = new Map());
    const isHandle = handles.has(block.memory), key = isHandle ? -block.address : block.address;
    const before = blocks.get(key);
    const held = before !== undefined && before.at >= began ? key : isHandle ? undefined : this.#mapped.get(pid)?.get(block.address);
    if (held !== undefined) {
      const inner = blocks.get(held);
      if (inner && inner.at >= began && block.stack !== undefined) blocks.set(held, { ...inner, stack: block.stack });
      return null;
    }
    const gone = before === undefined ? [] : this.#replaced(pid, key, before);
    blocks.set(key, block);
    if (!isHandle) this.#space(pid).map(rangeOf(block));
    if (block.memory === "physical") this.#kept.set(`${pid} ${key}`, { handles: 1, mappings: 0 });
    this.#add(pid, block, 1);
    return gone;
  }

  /**
   * By a call that began then. Undefined where it is not known: the driver has let it go already, it was asked for before anybody looked, or somebody else
   * keeps it. Null where another thread was given the same address before the call returned: then it was let go of.
   */
  release(pid: number, address: number, began: Ns): Block | null | undefined {
    const blocks = this.#blocks.get(pid);
    const key = blocks?.has(address) ? address : -address;
    const block = blocks?.get(key);
    if (block === undefined) return undefined;
    if (block.at > began) return null;
    const kept = this.#kept.get(`${pid} ${key}`);
    if (kept === undefined) return this.#let(pid, key, block);
    kept.handles--;
    return this.#unlessKept(pid, key);
  }

  /** One more handle of physical memory, which has to be released as well. */
  retain(pid: number, handle: number): void {
    const kept = this.#kept.get(`${pid} ${-handle}`);
    if (kept) kept.handles++;
  }

  /** Physical memory is to be seen at an address: it is held for as long, also without a handle. */
  map(pid: number, address: number, bytes: number, handle: number): void {
    const kept = this.#kept.get(`${pid} ${-handle}`);
    if (!kept) return;
    kept.mappings++;
    const { device } = this.#blocks.get(pid)!.get(-handle)!;
    this.#space(pid).map(rangeOf({ address, bytes, memory: device < 0 ? "host" : "physical", device }));
    let mapped = this.#mapped.get(pid);
    if (!mapped) this.#mapped.set(pid, mapped = new Map());
    mapped.set(address, -handle);
  }

  /** Returns what nobody keeps any more. */
  unmap(pid: number, from: number, bytes: number): readonly Block[] {
    const mapped = this.#mapped.get(pid), gone = [];
    for (const [address, key] of mapped ?? []) {
      if (address < from || address >= from + bytes) continue;
      mapped!.delete(address);
      const kept = this.#kept.get(`${pid} ${key}`);
      if (kept) kept.mappings--;
      const block = kept && this.#unlessKept(pid, key);
      if (block) gone.push(block);
    }
    return gone;
  }

  /** All that was asked for in a place that is gone by a call of this family. */
  releaseAll(pid: number, place: Place, family: Family): readonly Block[] {
    const gone = [...this.#blocks.get(pid) ?? []].filter(([, { memory, place: its }]) => !stays(memory, family) && isSame(its, place));
    return gone.map(([key, block]) => this.#let(pid, key, block));
  }

  /** Addresses under which memory of a GPU can be seen from now on, or not any more. */
  reserve(pid: number, from: number, bytes: number, isReserved: boolean): void {
    if (isReserved) this.#space(pid).map(rangeOf({ address: from, bytes, memory: "physical", device: undefined }));
    else this.#space(pid).unmap(from, from + bytes);
  }

  /** What memory lies at an address; undefined: none that was asked for. */
  at(pid: number, address: number): Lying | undefined {
    const file = this.#spaces.get(pid)?.at(address).mapping?.file;
    return file && { memory: file.name as MemoryKind, device: file.id === "" ? undefined : Number(file.id) };
  }

  /** Bytes of a kind that a process holds of a device, or of all kinds of the host. */
  bytes(pid: number, of: Pick<Block, "device" | "memory">): number {
    return this.#bytes.get(sumOf(pid, of)) ?? 0;
  }

  /** All that a process holds, and what had been forgotten of it then. */
  forget(pid: number): readonly Block[] {
    const blocks = [...this.#blocks.get(pid)?.values() ?? []];
    for (const block of blocks) this.#add(pid, block, -1);
    for (const known of [this.#blocks, this.#spaces, this.#mapped]) known.delete(pid);
    for (const key of this.#kept.keys()) if (key.startsWith(`${pid} `)) this.#kept.delete(key);
    return blocks;
  }

  get pids(): readonly number[] {
    return [...this.#blocks.keys()];
  }

  /** What had been known by a key that means another block now. */
  #replaced(pid: number, key: number, block: Block): readonly Block[] {
    const kept = this.#kept.get(`${pid} ${key}`);
    if (kept === undefined) return [this.#let(pid, key, block)];
    kept.handles = 0;
    const gone = this.#unlessKept(pid, key);
    return gone === undefined ? [] : [gone];
  }

  #unlessKept(pid: number, key: number): Block | undefined {
    const kept = this.#kept.get(`${pid} ${key}`)!, blocks = this.#blocks.get(pid)!, block = blocks.get(key)!;
    if (kept.handles > 0) return undefined;
    if (kept.mappings === 0) return this.#let(pid, key, block);
    // Its handle may be given to another.
    if (key <= FIRST_UNNAMED) return undefined;
    const unnamed = this.#unnamed--, mapped = this.#mapped.get(pid)!;
    for (const [address, of] of mapped) if (of === key) mapped.set(address, unnamed);
    this.#kept.set(`${pid} ${unnamed}`, kept);
    this.#kept.delete(`${pid} ${key}`);
    blocks.set(unnamed, block);
    blocks.delete(key);
    return undefined;
  }

  #let(pid: number, key: number, block: Block): Block {
    this.#kept.delete(`${pid} ${key}`);
    this.#blocks.get(pid)!.delete(key);
    if (!handles.has(block.memory)) this.#space(pid).unmap(block.address, block.address + (block.bytes ?? 0));
    this.#add(pid, block, -1);
    return block;
  }

  #space(pid: number): AddressSpace {
    let space = this.#spaces.get(pid);
    if (!space) this.#spaces.set(pid, space = new AddressSpace());
    return space;
  }

  #add(pid: number, block: Block, times: 1 | -1): void {
    const key = sumOf(pid, block);
    this.#bytes.set(key, (this.#bytes.get(key) ?? 0) + times * (block.bytes ?? 0));
  }
}

/** It is of no context: physical memory, and what pools give, but that HIP empties the pools of a GPU that it resets. */
function stays(memory: MemoryKind, family: Family): boolean {
  return memory === "physical" || (memory === "pooled" && family !== "hip");
}

/** What is added up: each kind of a process and device, and all that is the host's. */
function sumOf(pid: number, { device, memory }: Pick<Block, "device" | "memory">): string {
  return device < 0 ? `${pid} host` : `${pid} ${device} ${memory}`;
}

function rangeOf({ address, bytes, memory, device }: Pick<Block, "address" | "bytes"> & Lying) {
  return { from: address, to: address + (bytes ?? 0), offset: 0, file: { id: String(device ?? ""), name: memory } };
}

import type { Ns } from "../../lib/events/time.ts";
import { AddressSpace } from "../memory/address_space.ts";
import { isSame, type Place } from "./devices.ts";

/** What kind of memory was asked for: see tables.ts. */
export type MemoryKind = "device" | "managed" | "pooled" | "host" | "registered" | "physical" | "array";

/** Memory that is held for a GPU. */
export interface Block {
  readonly address: number;
  readonly bytes: number;
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

/** Handles of physical memory are numbers of their own, below all addresses. */
const handles = new Set<MemoryKind>(["physical", "array"]);

/** What the processes of a target hold, as far as they were seen to ask for it. */
export class HeldMemory {
  /** By process; in each by address or handle, with handles below 0. */
  readonly #blocks = new Map<number, Map<number, Block>>();
  /** By process and what a block was known by: what another has taken the place of before anybody told that it was let go. */
  readonly #replaced = new Map<string, Block>();
  /** By process: which kind of memory lies where. */
  readonly #spaces = new Map<number, AddressSpace>();
  /** By process, device and kind. */
  readonly #bytes = new Map<string, number>();

  /**
   * By a call that began then. Returns false where it is held since: the runtime asks the driver, and both say so. What was held there before has been let go
   * by a call that is still to be told of, or that nobody saw.
   */
  hold(pid: number, block: Block, began: Ns): boolean {
    let blocks = this.#blocks.get(pid);
    if (!blocks) this.#blocks.set(pid, blocks = new Map());
    const key = handles.has(block.memory) ? -block.address : block.address;
    const before = blocks.get(key);
    if (before !== undefined && before.at >= began) return false;
    if (before !== undefined) this.#replaced.set(`${pid} ${key}`, this.#let(pid, key, before));
    blocks.set(key, block);
    if (!handles.has(block.memory)) this.#space(pid).map(rangeOf(block));
    this.#add(pid, block, block.bytes);
    return true;
  }

  /**
   * By a call that began then. Undefined where it is not known: the driver has let it go already, or it was asked for before anybody looked. Another thread
   * may have been given the same address before the call returned.
   */
  release(pid: number, address: number, began: Ns): Block | undefined {
    const blocks = this.#blocks.get(pid);
    const key = blocks?.has(address) ? address : -address;
    const block = blocks?.get(key);
    if (block !== undefined && block.at <= began) return this.#let(pid, key, block);
    const replaced = this.#replaced.get(`${pid} ${key}`);
    this.#replaced.delete(`${pid} ${key}`);
    return replaced;
  }

  /** All that was asked for in a place that is gone. */
  releaseAll(pid: number, place: Place): readonly Block[] {
    const gone = [...this.#blocks.get(pid) ?? []].filter(([, block]) => isSame(block.place, place));
    return gone.map(([key, block]) => this.#let(pid, key, block));
  }

  /** Addresses under which memory of a GPU can be seen from now on, or not any more. */
  reserve(pid: number, from: number, bytes: number, isReserved: boolean): void {
    if (isReserved) this.#space(pid).map({ from, to: from + bytes, offset: 0, file: { id: "physical", name: "physical" } });
    else this.#space(pid).unmap(from, from + bytes);
  }

  /** What kind of memory lies at an address; undefined: none that was asked for. */
  at(pid: number, address: number): MemoryKind | undefined {
    return this.#spaces.get(pid)?.at(address).mapping?.file?.name as MemoryKind | undefined;
  }

  /** Bytes of a kind that a process holds of a device. */
  bytes(pid: number, { device, memory }: Pick<Block, "device" | "memory">): number {
    return this.#bytes.get(`${pid} ${device} ${memory}`) ?? 0;
  }

  /** All that a process holds, and what had been forgotten of it then. */
  forget(pid: number): readonly Block[] {
    const blocks = [...this.#blocks.get(pid)?.values() ?? []];
    for (const block of blocks) this.#add(pid, block, -block.bytes);
    this.#blocks.delete(pid);
    this.#spaces.delete(pid);
    for (const key of this.#replaced.keys()) if (key.startsWith(`${pid} `)) this.#replaced.delete(key);
    return blocks;
  }

  get pids(): readonly number[] {
    return [...this.#blocks.keys()];
  }

  #let(pid: number, key: number, block: Block): Block {
    this.#blocks.get(pid)!.delete(key);
    if (!handles.has(block.memory)) this.#space(pid).unmap(block.address, block.address + block.bytes);
    this.#add(pid, block, -block.bytes);
    return block;
  }

  #space(pid: number): AddressSpace {
    let space = this.#spaces.get(pid);
    if (!space) this.#spaces.set(pid, space = new AddressSpace());
    return space;
  }

  #add(pid: number, { device, memory }: Block, bytes: number): void {
    const key = `${pid} ${device} ${memory}`;
    this.#bytes.set(key, (this.#bytes.get(key) ?? 0) + bytes);
  }
}

function rangeOf({ address, bytes, memory }: Block) {
  return { from: address, to: address + bytes, offset: 0, file: { id: memory, name: memory } };
}

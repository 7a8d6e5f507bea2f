import type { Ns } from "../../lib/events/time.ts";
import { AddressSpace } from "../memory/address_space.ts";

/** What kind of memory was asked for: see tables.ts. */
export type MemoryKind = "device" | "managed" | "pooled" | "host" | "registered" | "physical" | "array";

/** Memory that is held for a GPU. */
export interface Block {
  readonly address: number;
  readonly bytes: number;
  readonly memory: MemoryKind;
  readonly device: number;
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
  /** By process: which kind of memory lies where. */
  readonly #spaces = new Map<number, AddressSpace>();
  /** By process, device and kind. */
  readonly #bytes = new Map<string, number>();

  /** Returns false where it is held already: the runtime asks the driver, and both say so. */
  hold(pid: number, block: Block): boolean {
    let blocks = this.#blocks.get(pid);
    if (!blocks) this.#blocks.set(pid, blocks = new Map());
    const key = handles.has(block.memory) ? -block.address : block.address;
    if (blocks.has(key)) return false;
    blocks.set(key, block);
    if (!handles.has(block.memory)) this.#space(pid).map(rangeOf(block));
    this.#add(pid, block, block.bytes);
    return true;
  }

  /** Undefined where it is not known: the driver has let it go already, or it was asked for before anybody looked. */
  release(pid: number, address: number): Block | undefined {
    const blocks = this.#blocks.get(pid);
    const key = blocks?.has(address) ? address : -address;
    const block = blocks?.get(key);
    if (!block) return undefined;
    blocks!.delete(key);
    if (!handles.has(block.memory)) this.#space(pid).unmap(block.address, block.address + block.bytes);
    this.#add(pid, block, -block.bytes);
    return block;
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
    this.#blocks.delete(pid);
    this.#spaces.delete(pid);
    for (const block of blocks) this.#add(pid, block, -block.bytes);
    return blocks;
  }

  get pids(): readonly number[] {
    return [...this.#blocks.keys()];
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

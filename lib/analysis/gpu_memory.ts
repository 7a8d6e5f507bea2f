import type { GpuCall, HeldBlock } from "../events/gpu.ts";
import type { Instant, Mark, SeenStack } from "../events/span.ts";
import type { GpuResult } from "./gpu_schema.ts";
import { Histogram } from "./histogram.ts";

interface Sums {
  readonly pid: number;
  readonly device: number;
  readonly memory: string;
  readonly sizes: Histogram;
  readonly lifetimes: Histogram;
  ofUnknownSize: number;
  frees: number;
  freedBytes: number;
  now: number;
  peak: number;
}

interface Held {
  readonly pid: number;
  readonly device: number;
  readonly memory: string;
  readonly exited: boolean;
  readonly stack: number | undefined;
  blocks: number;
  bytes: number;
  longestNs: number;
}

/** What is held for GPUs, by process, GPU and kind. */
export class GpuMemory {
  readonly #sums = new Map<string, Sums>();
  readonly #held = new Map<string, Held>();
  readonly #frames = new Map<number, readonly string[]>();
  /** Processes that were seen to begin, and those that have memory and were not. */
  readonly #begun = new Set<number>();
  readonly #ranBefore = new Set<number>();
  #unknownFrees = 0;
  /** A turn of watching has ended, and no other has begun. */
  #rests = false;
  /** How many there were. */
  allocations = 0;

  mark({ kind, open }: Mark): void {
    if (kind === "ended") {
      // What comes until the next turn nobody sees.
      this.#begun.clear();
      this.#rests = true;
    }
    if (kind !== "window" || !open || !this.#rests) return;
    this.#rests = false;
    // It is held to the end where that of its turn is that of counting.
    for (const [key, { exited }] of this.#held) if (!exited) this.#held.delete(key);
  }

  /** Of the target: a process begins, or another program in it. */
  life({ category, track: { pid }, args }: Instant): void {
    if (category === "process.exec") this.#begun.add(pid);
    if (category === "process.fork") this.#begun.add(args!.child as number);
  }

  call(pid: number, { kind, failure, memory, device = 0, bytes, heldNs, isRepeat, released = [] }: GpuCall): void {
    if (failure !== null) return;
    for (const block of released) this.#release(pid, block.device, block.memory, block.bytes, block.heldNs);
    if (memory === undefined || isRepeat) return;
    this.#has(pid);
    if (kind !== "alloc") return this.#release(pid, device, memory, bytes, heldNs);
    const sums = this.#of(pid, device, memory);
    this.allocations++;
    if (bytes === undefined) {
      sums.ofUnknownSize++;
      return;
    }
    sums.sizes.add(bytes);
    sums.now += bytes;
    sums.peak = Math.max(sums.peak, sums.now);
  }

  /** Memory was let go of which nobody saw that it was asked for. */
  unknownFree(pid: number): void {
    this.#unknownFrees++;
    this.#has(pid);
  }

  #has(pid: number): void {
    if (!this.#begun.has(pid)) this.#ranBefore.add(pid);
  }

  #release(pid: number, device: number, memory: string, bytes = 0, heldNs: number | undefined): void {
    const sums = this.#of(pid, device, memory);
    sums.frees++;
    sums.freedBytes += bytes;
    sums.now -= bytes;
    if (heldNs !== undefined) sums.lifetimes.add(heldNs);
  }

  #of(pid: number, device: number, memory: string): Sums {
    const key = `${pid} ${device} ${memory}`;
    let sums = this.#sums.get(key);
    if (!sums) {
      const none = { ofUnknownSize: 0, frees: 0, freedBytes: 0, now: 0, peak: 0 };
      this.#sums.set(key, sums = { pid, device, memory, sizes: new Histogram(), lifetimes: new Histogram(), ...none });
    }
    return sums;
  }

  stillHeld(pid: number, { device, memory, hasExited: exited, stack, bytes = 0, heldNs }: HeldBlock): void {
    const key = `${pid} ${device} ${memory} ${exited} ${stack}`;
    let held = this.#held.get(key);
    if (!held) this.#held.set(key, held = { pid, device, memory, exited, stack, blocks: 0, bytes: 0, longestNs: 0 });
    // What a process had held that is gone is no part of a later peak, nor is what was held when a turn of watching ended: nobody sees it freed.
    const sums = this.#sums.get(`${pid} ${device} ${memory}`);
    if (sums) sums.now -= bytes;
    held.blocks++;
    held.bytes += bytes;
    held.longestNs = Math.max(held.longestNs, heldNs);
  }

  /** At the end. */
  stack({ id, frames }: SeenStack): void {
    this.#frames.set(id, frames);
  }

  result(): Pick<GpuResult, "memory" | "memoryBefore" | "held"> {
    return { memory: this.#memory(), memoryBefore: { processes: this.#ranBefore.size, frees: this.#unknownFrees }, held: this.#neverFreed() };
  }

  #memory(): GpuResult["memory"] {
    return [...this.#sums.values()].map(({ pid, device, memory, sizes, lifetimes, ofUnknownSize, frees, freedBytes, peak }) => ({
      pid,
      device: numbered(device),
      memory,
      allocations: sizes.count + ofUnknownSize,
      ofUnknownSize,
      allocatedBytes: sizes.sum,
      frees,
      freedBytes,
      peakBytes: peak,
      sizeP50: sizes.quantile(0.5),
      sizeMax: sizes.count > 0 ? sizes.max : null,
      heldP50Ns: lifetimes.quantile(0.5),
      heldMaxNs: lifetimes.count > 0 ? lifetimes.max : null,
    })).sort((a, b) => b.peakBytes - a.peakBytes);
  }

  /** By who asked for them: stacks of a process that are alike are one. */
  #neverFreed(): GpuResult["held"] {
    const alike = new Map<string, GpuResult["held"][number]>();
    for (const { pid, device, memory, exited, stack, blocks, bytes, longestNs } of this.#held.values()) {
      const frames = stack === undefined ? null : [...this.#frames.get(stack) ?? []];
      const key = [pid, device, memory, exited, ...frames ?? []].join("\0");
      const before = alike.get(key) ?? { blocks: 0, bytes: 0, longestNs: 0 };
      alike.set(key, {
        pid,
        device: numbered(device),
        memory,
        exited,
        blocks: before.blocks + blocks,
        bytes: before.bytes + bytes,
        longestNs: Math.max(before.longestNs, longestNs),
        frames,
      });
    }
    return [...alike.values()].sort((a, b) => b.bytes - a.bytes);
  }
}

function numbered(device: number): number | null {
  return device < 0 ? null : device;
}

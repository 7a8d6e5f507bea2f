import type { GpuCall, GpuDirection, SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Call } from "./call.ts";
import { Devices, type Place } from "./devices.ts";
import { directionOf } from "./directions.ts";
import { type Block, HeldMemory, type MemoryKind } from "./memory.ts";
import { bytesOf, hex } from "./said.ts";
import type { Signature } from "./signatures.ts";

/** The book of memory that the processes of a target hold: what calls do to it, and what is drawn of it. */
export class MemoryLedger {
  readonly #held = new HeldMemory();
  readonly #devices = new Devices();
  /** Processes of which all memory is known: they were seen to begin, or to initialise their driver, and were given none in another way. */
  readonly #whole = new Set<number>();
  /** Processes that have asked for something. */
  readonly #at = new Set<number>();

  constructor(readonly tracks: Tracks) {}

  get pids(): readonly number[] {
    return this.#held.pids;
  }

  placeOf(pid: number, tid: number): Place {
    return this.#devices.of(pid, tid);
  }

  /** A process begins, or another program in it. */
  begins(pid: number): void {
    this.#whole.add(pid);
  }

  /** A call of kind `alloc`, `free`, `reserve` or `context`. One that failed did nothing. */
  call(call: Call, out: SpanSink): Partial<GpuCall> {
    const { signature: { kind, name, variant }, said, failure, pid, tid, began, at, stack } = call;
    if (kind === "alloc") {
      const bytes = bytesOf(said) ?? 0, memory = variant as MemoryKind, place = this.#devices.of(pid, tid), address = said.get("address")!;
      const device = memory === "host" || memory === "registered" ? -1 : place.device;
      const block: Block = { address, bytes, memory, device, place, at, stack };
      // Of nothing there is no address.
      const isFresh = failure === null && address !== 0 && this.#held.hold(pid, block, began);
      if (isFresh) this.#count(pid, block, at, out);
      return { bytes, memory, device, ...failure === null && !isFresh && { isRepeat: true }, ...stack !== undefined && { stack } };
    }
    if (failure !== null) return {};
    if (kind === "free") {
      const block = this.#held.release(pid, said.get("address")!, began);
      if (!block) return {};
      this.#count(pid, block, at, out);
      const { bytes, memory, device } = block;
      return { bytes, memory, device, heldNs: at - block.at };
    }
    if (kind === "context") {
      const gone = this.#devices.context(name, said, pid, tid);
      if (gone !== undefined) this.#leaves(pid, gone, at, out);
    } else if (/AddressReserve$|AddressFree$/.test(name)) {
      this.#held.reserve(pid, said.get("address")!, bytesOf(said)!, name.endsWith("Reserve"));
    }
    return {};
  }

  /** A call of any kind that was done. `gives`: see {@link CalledFunction}. */
  done({ name, kind }: Signature, gives: boolean, pid: number): void {
    if (gives) this.#whole.delete(pid);
    if (this.#at.has(pid) || kind === "query" || kind === "state") return;
    this.#at.add(pid);
    if (/^(?:cu|hip)Init$/.test(name)) this.#whole.add(pid);
  }

  /** Of a copy. */
  directionOf({ signature: { variant }, said, pid }: Call): GpuDirection {
    return directionOf(variant, said, (address) => this.#held.at(pid, address), this.#whole.has(pid));
  }

  /** What a process held when it exited, or still holds as counting ends. */
  ends(pid: number, at: Ns, hasExited: boolean, out: SpanSink): void {
    this.#neverFreed(pid, this.#held.forget(pid), at, hasExited, out);
    this.#devices.forget(pid);
    this.#whole.delete(pid);
    this.#at.delete(pid);
  }

  /** What was held in a place that is gone. */
  #leaves(pid: number, place: Place, at: Ns, out: SpanSink): void {
    const blocks = this.#held.releaseAll(pid, place);
    for (const block of blocks) this.#count(pid, block, at, out);
    this.#neverFreed(pid, blocks, at, true, out);
  }

  #count(pid: number, block: Block, at: Ns, out: SpanSink): void {
    const where = block.device < 0 ? "pinned memory of the host" : `memory of GPU ${block.device}`;
    const name = block.memory === "device" || block.device < 0 ? where : `${where}, ${block.memory}`;
    out({ type: "counter", track: this.tracks.counter(pid, name, "bytes"), at, value: this.#held.bytes(pid, block) });
  }

  #neverFreed(pid: number, blocks: readonly Block[], at: Ns, hasExited: boolean, out: SpanSink): void {
    const track = this.tracks.lane(pid, "GPU memory never freed", 5), name = hasExited ? "never freed" : "still held";
    for (const { bytes, memory, device, address, stack, ...block } of blocks) {
      const args = { bytes, memory, device, address: hex(address), ...stack !== undefined && { stack } };
      const held = { bytes, memory, device, stack, heldNs: at - block.at, hasExited };
      out({ type: "instant", track, name, category: "gpu.held", at, args, held });
    }
  }
}

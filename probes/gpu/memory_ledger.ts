import type { GpuCall, GpuDirection, ReleasedBlock } from "../../lib/events/gpu.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import type { Call } from "./call.ts";
import { Devices, type Place } from "./devices.ts";
import { directionOf } from "./directions.ts";
import { type Block, HeldMemory, type MemoryKind } from "./memory.ts";
import { bytesOf, hex } from "./said.ts";
import type { Family } from "./signatures.ts";

/** The book of memory that the processes of a target hold: what calls do to it, and what is drawn of it. */
export class MemoryLedger {
  readonly #held = new HeldMemory();
  readonly #devices = new Devices();
  /** Of processes that were seen to begin: whether all of their memory is known, and they were given none in another way. */
  readonly #whole = new Map<number, boolean>();

  /** `gone`: is told of a place that is no more. */
  constructor(readonly tracks: Tracks, readonly gone: (pid: number, place: Place) => void) {}

  get pids(): readonly number[] {
    return this.#held.pids;
  }

  placeOf(pid: number, tid: number): Place {
    return this.#devices.of(pid, tid);
  }

  /** A process begins, or another program in it. */
  begins(pid: number): void {
    this.#whole.set(pid, true);
  }

  /** A call of kind `alloc`, `free`, `reserve` or `context`. One that failed did nothing. */
  call(call: Call, out: SpanSink): Partial<GpuCall> {
    const { family, signature: { kind, name, variant }, said, failure, pid, tid, began, at, stack } = call;
    if (kind === "alloc") {
      const bytes = bytesOf(said), memory = variant as MemoryKind, address = said.get("address")!, owner = said.get("owner");
      const place = owner ? this.#devices.named(pid, owner) : this.#devices.of(pid, tid);
      const device = deviceOf(memory, said.get("location")) ?? place.device;
      const block: Block = { address, bytes, memory, device, place, at, stack };
      const about = { ...bytes !== undefined && { bytes }, memory, device, ...stack !== undefined && { stack } };
      if (failure !== null) return about;
      // Of nothing there is no address.
      const before = address === 0 ? null : this.#held.hold(pid, block, began);
      if (before === null) return { ...about, isRepeat: true };
      this.#count(pid, block, at, out);
      return { ...about, ...this.#letGo(pid, before, at, out) };
    }
    if (failure !== null) return {};
    if (kind === "free") {
      const block = this.#held.release(pid, said.get("address")!, began);
      if (block === undefined) return {};
      if (block === null) return { isRepeat: true };
      this.#count(pid, block, at, out);
      return releasedOf(block, at);
    }
    if (kind === "context") {
      const gone = this.#devices.context(name, said, pid, tid);
      if (gone !== undefined) this.#leaves(pid, gone, family, at, out);
    } else if (/(?:Address|VirtualMem)(?:Reserve|Free)$/.test(name)) {
      this.#held.reserve(pid, said.get("address")!, bytesOf(said)!, name.endsWith("Reserve"));
    } else if (/MemRetainAllocationHandle$/.test(name)) this.#held.retain(pid, said.get("address")!);
    else if (/MemMap$/.test(name)) this.#held.map(pid, said.get("address")!, bytesOf(said)!, said.get("handle")!);
    else if (/MemUnmap$/.test(name)) return this.#letGo(pid, this.#held.unmap(pid, said.get("address")!, bytesOf(said)!), at, out);
    return {};
  }

  /** Without a call that says so. */
  #letGo(pid: number, blocks: readonly Block[], at: Ns, out: SpanSink): Partial<GpuCall> {
    for (const block of blocks) this.#count(pid, block, at, out);
    return blocks.length === 0 ? {} : { released: blocks.map((block) => releasedOf(block, at)) };
  }

  /** See {@link givesAddresses}. */
  given(pid: number): void {
    if (this.#whole.has(pid)) this.#whole.set(pid, false);
  }

  /** Of a copy. */
  directionOf({ signature: { variant }, said, pid }: Call): GpuDirection {
    return directionOf(variant, said, (address) => this.#held.at(pid, address), this.#whole.get(pid));
  }

  /** What a process held when it exited, or still holds as counting ends. */
  ends(pid: number, at: Ns, hasExited: boolean, out: SpanSink): void {
    const blocks = this.#held.forget(pid);
    // One that has ended has nothing any more: each sum once.
    if (hasExited) { for (const block of new Map(blocks.map((block) => [counterOf(block), block])).values()) this.#count(pid, block, at, out); }
    this.#neverFreed(pid, blocks, at, hasExited, out);
    this.#devices.forget(pid);
    this.#whole.delete(pid);
  }

  /** What comes while nobody looks is not known. */
  end(): void {
    this.#whole.clear();
  }

  /** What was held in a place that is gone. */
  #leaves(pid: number, place: Place, family: Family, at: Ns, out: SpanSink): void {
    const blocks = this.#held.releaseAll(pid, place, family);
    for (const block of blocks) this.#count(pid, block, at, out);
    this.#neverFreed(pid, blocks, at, true, out);
    this.gone(pid, place);
  }

  #count(pid: number, block: Block, at: Ns, out: SpanSink): void {
    if (block.bytes === undefined) return;
    out({ type: "counter", track: this.tracks.counter(pid, counterOf(block), "bytes"), at, value: this.#held.bytes(pid, block) });
  }

  #neverFreed(pid: number, blocks: readonly Block[], at: Ns, hasExited: boolean, out: SpanSink): void {
    const track = this.tracks.lane(pid, "GPU memory never freed", 5), name = hasExited ? "never freed" : "still held";
    for (const { bytes, memory, device, address, stack, ...block } of blocks) {
      const args = { ...bytes !== undefined && { bytes }, memory, device, address: hex(address), ...stack !== undefined && { stack } };
      const held = { bytes, memory, device, stack, heldNs: at - block.at, hasExited };
      out({ type: "instant", track, name, category: "gpu.held", at, args, held });
    }
  }
}

/** CUmemLocationType: a GPU. Of what is the host's there are several. */
const DEVICE = 1;

/** The GPU whose memory it is, -1: the host's, undefined: nothing says so. `location`: the kind of place in its lower 8 bits, the place's number above. */
function deviceOf(memory: MemoryKind, location: number | undefined): number | undefined {
  if (memory === "host" || memory === "registered") return -1;
  const kind = (location ?? 0) % 256;
  return kind === 0 ? undefined : kind === DEVICE ? Math.floor(location! / 256) : -1;
}

/** What is drawn of it. */
function counterOf({ device, memory }: Block): string {
  const where = device < 0 ? "pinned memory of the host" : `memory of GPU ${device}`;
  return memory === "device" || device < 0 ? where : `${where}, ${memory}`;
}

function releasedOf({ bytes, memory, device, at: since }: Block, at: Ns): ReleasedBlock {
  return { bytes, memory, device, heldNs: at - since };
}

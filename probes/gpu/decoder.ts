import type { Decoder, Event } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { GpuCall, GpuDirection, SpanSink } from "../../lib/events/span.ts";
import type { GpuReading } from "../../lib/events/surroundings.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import { ProcessCode } from "../process/code.ts";
import { Stacks } from "../process/stack.ts";
import { Devices } from "./devices.ts";
import { Idleness } from "./idleness.ts";
import { type Block, HeldMemory, type MemoryKind } from "./memory.ts";
import { kernelName } from "./kernel_name.ts";
import { failureOf } from "./results.ts";
import { argsOf, bytesOf, hex } from "./said.ts";
import { type Family, type Kind, type Signature, signatureOf } from "./signatures.ts";
import { CalledFunction, type Understood } from "./called_function.ts";
import { FileUse } from "./file_use.ts";
import { Graphs } from "./graphs.ts";

/** cudaMemcpyKind, and hipMemcpyKind. */
const DIRECTIONS: readonly GpuDirection[] = ["on the host", "host to device", "device to host", "on the device"];
const BY_LETTERS: Readonly<Record<string, GpuDirection>> = { HtoD: "host to device", DtoH: "device to host", DtoD: "on the device" };
/** What a GPU says of itself, as counters. */
const READINGS: Readonly<Record<keyof Omit<GpuReading, "gpu" | "throttled" | "memoryTotal">, readonly [what: string, unit: string]>> = {
  busy: ["busy", "percent"],
  memoryBusy: ["its memory busy", "percent"],
  memoryUsed: ["memory used", "bytes"],
  clock: ["clock", "MHz"],
  power: ["power", "watts"],
  temperature: ["temperature", "degrees"],
};
/** CU_MEMORYTYPE_HOST. */
const HOST = 1;

/** What calls into GPU libraries mean, of all families together: what is held, on which device, in which direction; and what the device files say. */
export class GpuDecoder implements Decoder {
  readonly #code = new ProcessCode();
  /** By process and address. */
  readonly #functions = new Map<number, Map<number, CalledFunction>>();
  #stacks = new Stacks();
  readonly #held = new HeldMemory();
  readonly #devices = new Devices();
  readonly #idleness: Idleness;
  readonly #files: FileUse;
  /** By process and what a kernel is known by. */
  readonly #kernels = new Map<string, string>();
  /** Names of which the last piece was full, as far as they were told: by process and kernel. */
  readonly #unfinished = new Map<string, string>();
  /** By thread: what the driver launched last, and since when. */
  readonly #launched = new Map<number, { readonly began: Ns; readonly kernel: string }>();
  readonly #graphs = new Graphs();

  constructor(readonly tracks: Tracks) {
    this.#idleness = new Idleness(tracks);
    this.#files = new FileUse(tracks);
  }

  fact(fact: Fact, at: Ns, out: SpanSink): void {
    if (fact.fact === "gpus") { for (const reading of fact.gpus) this.#reading(reading, at, out); }
    if (fact.fact === "code") this.#functions.delete(fact.pid);
    this.#code.fact(fact);
    this.#stacks.fact(fact);
    if (fact.fact === "places") {
      for (const { at, name } of fact.places) if (name !== null) this.#called(fact.pid, at, name);
    }
  }

  event(event: Event, out: SpanSink): void {
    const { record, pid, tid, values } = event;
    if (record.startsWith("gpu/files.")) return this.#files.event(event, out);
    if (record.startsWith("process/life.")) {
      if (record === "process/life.exit" && tid === pid) this.#ends(pid, event.at, true, out);
      if (record !== "process/life.task") this.#functions.delete(pid);
      return this.#code.life(event);
    }
    const slash = record.indexOf("/"), family = record.slice(0, slash) as Family;
    switch (record.slice(slash + "/calls.".length)) {
      case "at":
        return this.#stacks.came(event, values[0] as number);
      case "frame":
        // What is its own stack is a kernel.
        if (values[0] !== values[2]) this.#stacks.frame(event);
        return;
      case "named":
        if (values[2] === 0) this.#name(pid, values[3] as number, "", values[4] as string);
        return this.#call(family, event, [values[3] as number], out);
      case "more": {
        const before = this.#unfinished.get(`${pid} ${values[0]}`);
        return before === undefined ? undefined : this.#name(pid, values[0] as number, before, values[1] as string);
      }
      case "call":
        return this.#call(family, event, values.slice(3) as number[], out);
    }
  }

  end(at: Ns, out: SpanSink): void {
    for (const pid of this.#held.pids) this.#ends(pid, at, false, out);
    this.#stacks = this.#stacks.end(at, "gpu.stack", this.tracks, out);
    this.#idleness.end();
  }

  #reading({ gpu, throttled, ...reading }: GpuReading, at: Ns, out: SpanSink): void {
    for (const [key, [what, unit]] of Object.entries(READINGS)) {
      const value = reading[key as keyof typeof reading];
      if (value !== null) out({ type: "counter", track: this.tracks.counter(0, `GPU ${gpu}: ${what}`, unit), at, value });
    }
    for (const reason of throttled) {
      const args = { gpu, reason };
      out({ type: "instant", track: this.tracks.run(), name: `GPU ${gpu} is slowed down: ${reason}`, category: "gpu.throttle", at, args });
    }
  }

  #call(family: Family, event: Event, found: readonly number[], out: SpanSink): void {
    const { at, pid, tid, values } = event;
    const [address, began, returned] = values as readonly number[];
    const called = this.#function(family, pid, address!), { signature, category } = called;
    const track = this.tracks.thread(pid, tid);
    const stack = this.#stacks.take(tid);
    if (!signature) return out({ type: "slice", track, name: "unknown call", category, start: began!, end: at });
    const result = signature.isVoid ? 0 : returned!;
    const failure = failureOf(family, result);
    const understand = (): Understood => {
      const said = new Map(signature.words.map((word, i) => [word, found[signature.layout.slots[i]!] ?? 0]));
      const meaning = this.#meaning({ family, signature, said, failure, pid, tid, began: began!, at, stack }, out);
      const gpu: GpuCall = { family, kind: signature.kind, result, failure, ...meaning, ...said.has("stream") && { stream: said.get("stream")! } };
      return { gpu, args: argsOf(signature, said, gpu) };
    };
    const { gpu, args } = this.#graphs.none ? called.again(found, result, understand) : understand();
    if (family === "cuda" && gpu.kernel !== undefined && !gpu.kernel.startsWith("0x")) this.#launched.set(tid, { began: began!, kernel: gpu.kernel });
    out({ type: "slice", track, name: signature.name, category, start: began!, end: at, ...args && { args }, gpu });
    if (failure !== null) {
      out({ type: "instant", track, name: `${signature.name}: ${failure}`, category: "gpu.error", at, args: { function: signature.name, result } });
    } else this.#idleness.call(signature, gpu, pid, began!, at, out);
  }

  /** The next piece of a kernel's name. */
  #name(pid: number, kernel: number, before: string, piece: string): void {
    // What fills a record is told as cut off.
    const isCut = piece.endsWith("…"), name = before + piece;
    this.#called(pid, kernel, name);
    if (isCut) this.#unfinished.set(`${pid} ${kernel}`, name.slice(0, -1));
    else this.#unfinished.delete(`${pid} ${kernel}`);
  }

  #called(pid: number, kernel: number, name: string): void {
    this.#kernels.set(`${pid} ${kernel}`, kernelName(name));
    this.#forget(pid, "launch");
  }

  /** What calls of a kind mean has changed. */
  #forget(pid: number, kind: Kind): void {
    for (const called of this.#functions.get(pid)?.values() ?? []) if (called.signature?.kind === kind) called.forget();
  }

  #function(family: Family, pid: number, address: number): CalledFunction {
    let known = this.#functions.get(pid);
    if (!known) this.#functions.set(pid, known = new Map());
    let called = known.get(address);
    if (!called) known.set(address, called = new CalledFunction(family, signatureOf(family, this.#code.find(pid, address)?.name ?? "")));
    return called;
  }

  /** What a call did, as far as it is remembered; one that failed did nothing. */
  #meaning(call: Call, out: SpanSink): Partial<GpuCall> {
    const { family, signature, said, failure, pid, tid, at, stack } = call, { kind, variant } = signature;
    const stream = said.get("stream"), isDriver = family !== "cudart";
    const recording = failure === null ? this.#graphs.of(pid, stream) : undefined;
    switch (kind) {
      case "alloc": {
        const bytes = bytesOf(said) ?? 0, memory = variant as MemoryKind;
        const onHost = memory === "host" || memory === "registered";
        const block: Block = { address: said.get("address")!, bytes, memory, device: onHost ? -1 : this.#devices.of(pid, tid), at, stack };
        const isFresh = failure === null && this.#held.hold(pid, block);
        if (isFresh) this.#count(pid, block, at, out);
        return { bytes, memory, device: block.device, ...failure === null && !isFresh && { isRepeat: true }, ...stack !== undefined && { stack } };
      }
      case "free": {
        const block = failure === null ? this.#held.release(pid, said.get("address")!) : undefined;
        if (!block) return {};
        this.#count(pid, block, at, out);
        const { bytes, memory, device } = block;
        return { bytes, memory, device, heldNs: at - block.at };
      }
      case "reserve":
        if (failure === null && /AddressReserve$|AddressFree$/.test(signature.name)) {
          this.#held.reserve(pid, said.get("address")!, bytesOf(said)!, signature.name.endsWith("Reserve"));
        }
        return {};
      case "copy": {
        const bytes = bytesOf(said) ?? 0, direction = this.#directionOf(call);
        if (isDriver) recording?.copy(direction, bytes);
        return { bytes, direction, ...recording && { isCaptured: true } };
      }
      case "set":
      case "prefetch":
      case "collective":
        return { bytes: bytesOf(said) ?? 0 };
      case "launch": {
        const code = said.get("function");
        const kernel = code === undefined ? undefined : this.#kernels.get(`${pid} ${code}`) ?? this.#launchedWithin(call, code) ?? hex(code);
        if (isDriver && kernel !== undefined) recording?.kernel(kernel);
        return { ...kernel !== undefined && { kernel }, ...recording && { isCaptured: true } };
      }
      case "context":
        if (failure === null) this.#devices.context(call.signature.name, said, pid, tid);
        return {};
      case "capture":
        if (failure === null) this.#graphs.begin(pid, stream!);
        return {};
      case "captured":
        this.#graphs.end(pid, stream!, failure === null ? said.get("graph")! : 0);
        return {};
      case "event": {
        const event = said.get("event");
        if (failure !== null || event === undefined || stream === undefined) return {};
        if (signature.name.includes("WaitEvent")) this.#graphs.waits(pid, stream, event);
        else this.#graphs.marked(pid, event, stream);
        return {};
      }
      case "graph": {
        const launchable = said.get("exec"), graph = said.get("graph");
        if (failure === null && launchable !== undefined && graph !== undefined) {
          this.#graphs.instantiate(pid, launchable, graph);
          this.#forget(pid, "graphLaunch");
        }
        return {};
      }
      case "graphLaunch": {
        const graph = this.#graphs.launched(pid, said.get("exec") ?? 0);
        return { ...graph && { graph } };
      }
      default:
        return {};
    }
  }

  /** A kernel that the runtime knows by a function without a name: what the driver was asked to launch for it. */
  #launchedWithin({ family, pid, tid, began }: Call, kernel: number): string | undefined {
    const launched = this.#launched.get(tid);
    if (family !== "cudart" || !launched || launched.began < began) return undefined;
    this.#kernels.set(`${pid} ${kernel}`, launched.kernel);
    return launched.kernel;
  }

  /** By what the function says, what it was told, or where the addresses lie. */
  #directionOf({ signature: { variant }, said, pid }: Call): GpuDirection {
    const told = variant === "kind" ? DIRECTIONS[said.get("kind")!] : BY_LETTERS[variant];
    if (told) return told;
    const side = (word: string) => {
      const address = said.get(word);
      if (address === undefined) return undefined;
      const memory = this.#held.at(pid, address);
      return memory === undefined || memory === "host" || memory === "registered";
    };
    const types = said.get("types");
    const [fromHost, toHost] = types !== undefined ? [Math.floor(types / 16) === HOST, types % 16 === HOST] : [side("from"), side("to")];
    if (fromHost === undefined || toHost === undefined) return "by the addresses";
    return fromHost ? toHost ? "on the host" : "host to device" : toHost ? "device to host" : "on the device";
  }

  #count(pid: number, block: Block, at: Ns, out: SpanSink): void {
    const where = block.device < 0 ? "pinned memory of the host" : `memory of GPU ${block.device}`;
    const name = block.memory === "device" || block.device < 0 ? where : `${where}, ${block.memory}`;
    out({ type: "counter", track: this.tracks.counter(pid, name, "bytes"), at, value: this.#held.bytes(pid, block) });
  }

  /** What a process held when it exited, or still holds as counting ends. */
  #ends(pid: number, at: Ns, hasExited: boolean, out: SpanSink): void {
    for (const block of this.#held.forget(pid)) {
      const { bytes, memory, device, stack } = block;
      const args = { bytes, memory, device, address: hex(block.address), ...stack !== undefined && { stack } };
      const held = { ...block, heldNs: at - block.at, hasExited };
      out({
        type: "instant",
        track: this.tracks.lane(pid, "GPU memory never freed", 5),
        name: hasExited ? "never freed" : "still held",
        category: "gpu.held",
        at,
        args,
        held,
      });
    }
    this.#devices.forget(pid);
    this.#graphs.forget(pid);
  }
}

interface Call {
  readonly family: Family;
  readonly signature: Signature;
  readonly said: ReadonlyMap<string, number>;
  readonly failure: string | null;
  readonly pid: number;
  readonly tid: number;
  readonly began: Ns;
  readonly at: Ns;
  readonly stack: number | undefined;
}

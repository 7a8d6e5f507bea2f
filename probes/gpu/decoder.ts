import type { Decoder, Event } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { GpuCall } from "../../lib/events/gpu.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { GpuReading } from "../../lib/events/surroundings.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import { ProcessCode } from "../process/code.ts";
import { ProcessEnds } from "../process/ends.ts";
import { Stacks } from "../process/stack.ts";
import { Idleness, isOfIdleness } from "./idleness.ts";
import type { Call } from "./call.ts";
import { LAUNCHER } from "./calls.ts";
import { MemoryLedger } from "./memory_ledger.ts";
import { isDoneAtReturn } from "./directions.ts";
import { KnownKernels } from "./known_kernels.ts";
import { failureOf } from "./results.ts";
import { argsOf, bytesOf, saidBy } from "./said.ts";
import type { Family, Kind } from "./signatures.ts";
import { UnfinishedCalls } from "./unfinished.ts";
import { CalledFunction, type Understood } from "./called_function.ts";
import { FileUse } from "./file_use.ts";
import { Graphs } from "./graphs.ts";
import { isWork, recordedIn, StreamRows } from "./streams.ts";

/** What a GPU says of itself, as counters. */
const READINGS: Readonly<Record<keyof Omit<GpuReading, "gpu" | "throttled" | "memoryTotal">, readonly [what: string, unit: string]>> = {
  busy: ["busy", "percent"],
  memoryBusy: ["its memory busy", "percent"],
  memoryUsed: ["memory used", "bytes"],
  clock: ["clock", "MHz"],
  power: ["power", "watts"],
  temperature: ["temperature", "degrees"],
};

/** What calls into GPU libraries mean, of all families together: what is held, on which device, in which direction; and what the device files say. */
export class GpuDecoder implements Decoder {
  readonly #code = new ProcessCode();
  /** By process and address. */
  readonly #functions = new Map<number, Map<number, CalledFunction>>();
  #stacks = new Stacks();
  readonly #memory: MemoryLedger;
  readonly #idleness: Idleness;
  readonly #streams: StreamRows;
  readonly #files: FileUse;
  readonly #kernels = new KnownKernels((pid) => this.#forget(pid, "launch"));
  /** By thread: what the driver was asked to do last, and when that began. */
  readonly #asked = new Map<number, { readonly began: Ns; readonly gpu: GpuCall }>();
  readonly #graphs = new Graphs();
  readonly #unfinished = new UnfinishedCalls(this.#code);
  readonly #processes = new ProcessEnds();

  constructor(readonly tracks: Tracks) {
    this.#idleness = new Idleness(tracks);
    this.#streams = new StreamRows(tracks);
    this.#memory = new MemoryLedger(tracks, (pid, place) => this.#idleness.leaves(pid, place));
    this.#files = new FileUse(tracks);
  }

  fact(fact: Fact, at: Ns, out: SpanSink): void {
    if (fact.fact === "gpus") { for (const reading of fact.gpus) this.#reading(reading, at, out); }
    if (fact.fact === "code") this.#functions.delete(fact.pid);
    this.#code.fact(fact);
    this.#stacks.fact(fact);
    if (fact.fact === "places") {
      for (const { at, name } of fact.places) if (name !== null) this.#kernels.called(fact.pid, at, name);
    }
  }

  event(event: Event, out: SpanSink): void {
    const { record, at, pid, tid, values } = event;
    if (record.startsWith("gpu/files.")) return this.#files.event(event, out);
    if (record.startsWith("process/life.")) return this.#life(event, out);
    const slash = record.indexOf("/"), family = record.slice(0, slash) as Family;
    switch (record.slice(slash + "/calls.".length)) {
      case "at":
        return this.#stacks.came(event, values[0] as number);
      case "frame":
        if (values[1] === LAUNCHER) return this.#kernels.launchedFrom(pid, values[0] as number, values[2] as number);
        // What is its own stack is a kernel.
        if (values[0] !== values[2]) this.#stacks.frame(event);
        return;
      case "named":
        if (values[2] === 0) this.#kernels.named(pid, values[3] as number, values[4] as string);
        // The kernel, wherever its function has it; a name is told apart.
        return this.#call(family, event, [values[3] as number, values[3] as number], out);
      case "more":
        return this.#kernels.more(pid, values[0] as number, values[1] as string);
      case "open":
        return this.#unfinished.add(family, this.tracks.thread(pid, tid), values[1] as number, values[2] as number, at);
      case "call":
        return this.#call(family, event, values.slice(3) as number[], out);
    }
  }

  end(at: Ns, out: SpanSink): void {
    this.#unfinished.tell(out);
    for (const pid of this.#memory.pids) this.#ends(pid, at, false, out);
    this.#memory.end();
    this.#graphs.interrupt();
    this.#kernels.interrupt();
    for (const pid of this.#functions.keys()) for (const kind of ["launch", "graphLaunch"] as const) this.#forget(pid, kind);
    this.#stacks = this.#stacks.end(at, "gpu.stack", this.tracks, out);
    this.#idleness.end();
  }

  #life(event: Event, out: SpanSink): void {
    const { record, at, pid, tid, values } = event;
    if (record === "process/life.task") {
      if (values[1] === 0) this.#begins(values[0] as number, at);
      return this.#code.life(event);
    }
    const isExec = record === "process/life.exec", isOver = this.#processes.with(event);
    // Which calls it has ended in is told when counting ends: the code is known until then.
    if (!isExec) this.#unfinished.ended(pid, tid, at, isOver);
    this.#asked.delete(tid);
    if (!isOver) return;
    this.#functions.delete(pid);
    // The memory of a process that becomes another program is gone with it.
    this.#ends(pid, at, true, out);
    if (!isExec) return;
    this.#begins(pid, at);
    this.#code.life(event);
  }

  #begins(pid: number, at: Ns): void {
    this.#memory.begins(pid);
    this.#unfinished.begins(pid, at);
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
    const called = this.#function(family, pid, address!), { signature, category, perThread } = called;
    const track = this.tracks.thread(pid, tid);
    const stack = this.#stacks.take(tid);
    if (!signature) return out({ type: "slice", track, name: "unknown call", category, start: began!, end: at });
    const result = signature.isVoid ? null : returned!;
    const failure = signature.isVoid || signature.tellsLast ? null : failureOf(family, returned!);
    const understand = (): Understood => {
      const said = saidBy(signature, found);
      const meaning = this.#meaning({ family, signature, said, failure, pid, tid, perThread, began: began!, at, stack }, out);
      const gpu: GpuCall = { family, kind: signature.kind, result, failure, ...meaning, ...said.has("stream") && { stream: said.get("stream")! } };
      return { gpu, args: argsOf(said, gpu) };
    };
    const { gpu, args } = this.#graphs.none ? called.again(found, result, understand) : understand();
    if (family === "cuda" && isWork(signature.kind)) this.#asked.set(tid, { began: began!, gpu });
    out({ type: "slice", track, name: signature.name, category, start: began!, end: at, ...args && { args }, gpu });
    if (failure !== null) {
      const args = { function: signature.name, result: returned! };
      out({ type: "instant", track, name: `${signature.name}: ${failure}`, category: "gpu.error", at, args });
    } else {
      if (called.gives) this.#memory.given(pid);
      if (!isOfIdleness(signature.kind)) return;
      const place = this.#memory.placeOf(pid, tid);
      const event = called.wordOf("event", found), flags = called.wordOf("flags", found);
      const done = { signature, gpu, pid, tid, place, perThread, event, flags, began: began!, at };
      this.#idleness.call(done, out);
      // What the runtime asked the driver for is drawn already.
      if (this.#within({ family, tid, began: began! })?.kind !== signature.kind) this.#streams.given(done, out);
    }
  }

  /** What calls of a kind mean has changed. */
  #forget(pid: number, kind: Kind): void {
    for (const called of this.#functions.get(pid)?.values() ?? []) if (called.signature?.kind === kind) called.forget();
  }

  #function(family: Family, pid: number, address: number): CalledFunction {
    let known = this.#functions.get(pid);
    if (!known) this.#functions.set(pid, known = new Map());
    let called = known.get(address);
    if (!called) known.set(address, called = new CalledFunction(family, this.#code.find(pid, address)?.name ?? ""));
    return called;
  }

  /** What a call did, as far as it is remembered; one that failed did nothing. */
  #meaning(call: Call, out: SpanSink): Partial<GpuCall> {
    const { family, signature, said, failure, pid, tid, began } = call, { kind } = signature;
    const handle = said.get("stream"), stream = handle === undefined ? undefined : recordedIn(handle, call), isDriver = family !== "cudart";
    const recording = failure === null ? this.#graphs.of(pid, stream) : undefined;
    switch (kind) {
      case "alloc":
      case "free":
      case "reserve":
      case "context":
        if (!recording) return this.#memory.call(call, out);
        // A graph has memory of its own while it runs, at the same address each time.
        if (kind === "alloc") this.#memory.given(pid);
        return { isCaptured: true };
      case "copy": {
        const bytes = bytesOf(said), told = this.#memory.directionOf(call), asked = this.#within(call)?.direction;
        // The runtime is not told on which GPU memory lies, and the driver asked for it by addresses.
        const direction = asked === "between devices" || told === "by the addresses" ? asked ?? told : told;
        if (isDriver) recording?.copy(direction, bytes ?? 0);
        const isWaited = isDoneAtReturn(signature.name, family, direction);
        return { ...bytes !== undefined && { bytes }, direction, ...isWaited && { isWaited }, ...recording && { isCaptured: true } };
      }
      case "set":
      case "prefetch":
      case "collective": {
        const bytes = bytesOf(said);
        if (kind === "collective") recording?.collective({ name: signature.name, bytes: bytes ?? 0, began }, tid);
        return { ...bytes !== undefined && { bytes }, ...recording && { isCaptured: true } };
      }
      case "launch": {
        const code = said.get("function");
        const kernel = code === undefined ? undefined : this.#kernels.of(pid, code, this.#within(call)?.kernel);
        if (isDriver && kernel !== undefined) recording?.kernel(kernel);
        return { ...kernel !== undefined && { kernel }, ...recording && { isCaptured: true } };
      }
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
        // A stream that waits for what is recorded is recorded from then on.
        return { ...this.#graphs.of(pid, stream) && { isCaptured: true } };
      }
      case "graph": {
        const launchable = said.get("exec"), graph = said.get("graph");
        if (failure !== null || graph === undefined) return {};
        if (launchable !== undefined) {
          this.#graphs.instantiate(pid, launchable, graph);
          this.#forget(pid, "graphLaunch");
        } else if (signature.name.endsWith("GraphDestroy")) this.#graphs.destroy(pid, graph);
        else this.#graphs.make(pid, graph, said.get("original"));
        return {};
      }
      case "graphLaunch": {
        const graph = this.#graphs.launched(pid, said.get("exec") ?? 0);
        if (!recording) return { ...graph && { graph } };
        if (isDriver) recording.graph(graph);
        return { isCaptured: true };
      }
      case "module": {
        const kernel = said.get("kernel");
        if (failure === null && kernel !== undefined) this.#kernels.alike(pid, said.get("function")!, kernel);
        return {};
      }
      default:
        return {};
    }
  }

  /** What a call of the runtime asked the driver for. */
  #within({ family, tid, began }: Pick<Call, "family" | "tid" | "began">): GpuCall | undefined {
    const asked = this.#asked.get(tid);
    return family !== "cudart" || asked === undefined || asked.began < began ? undefined : asked.gpu;
  }

  #ends(pid: number, at: Ns, hasExited: boolean, out: SpanSink): void {
    this.#memory.ends(pid, at, hasExited, out);
    this.#graphs.forget(pid);
    if (hasExited) this.#kernels.forget(pid);
    this.#idleness.forget(pid);
  }
}

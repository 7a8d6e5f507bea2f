import type { Placement, Slice, Track } from "../events/span.ts";
import type { OffloadResult } from "./offload_schema.ts";
import { type Phase, phaseOf, PHASES } from "./operator_sums.ts";
import type { StoppedTimes } from "./stopped.ts";
import { tensorKind } from "./tensor_kind.ts";

/** What waits for the end of its thread's `llama_decode` is bounded: beyond this many, most are of threads that do not call it. */
const MOST_PENDING = 65_536;

/** Calls of one kind, and what they moved. */
interface Sum {
  calls: number;
  bytes: number;
  ns: number;
}

interface PlacedNode {
  readonly device: string;
  readonly op: string;
  readonly name: string;
  readonly layer: number | undefined;
}

/** What is copied: which way, which kind of tensor, and what the calls took their time for. */
type Copy = Pick<OffloadResult["copies"][number], "way" | "name" | "time">;
type Sums = Readonly<Record<Phase, Sum>>;

interface Device {
  readonly computed: Sums;
  readonly waited: Sums;
  readonly moved: Sums;
  readonly copies: Map<string, { readonly copy: Copy; readonly sums: Sums }>;
  /** Parts of graphs that it computes, and how often, by the kind of call. */
  readonly placed: Map<Placement, Record<Phase, number>>;
}

/** Products read the weights: a layer is where these are. */
const PRODUCTS = new Set(["MUL_MAT", "MUL_MAT_ID"]);
/** They show memory in another way, and nobody computes them. */
const VIEWS = new Set(["NONE", "RESHAPE", "VIEW", "PERMUTE", "TRANSPOSE"]);
/** A library of the CPU's that ggml calls a device: what it computes, the CPU does. */
export const BLAS = "BLAS";
/** What llama.cpp calls the product that makes the logits. */
const OUTPUT = "result_output";

const sums = (): Sums => ({ prefill: sum(), decode: sum(), other: sum() });
const sum = (): Sum => ({ calls: 0, bytes: 0, ns: 0 });

/** What a thread did since its last call of `llama_decode`. */
interface Thread {
  /** `behind`: of what kind of call it is, unless it is inside of one. */
  readonly pending: { readonly slice: Slice; readonly behind: Phase }[];
  /** Behind which call of its process it began something else. */
  begun: Slice | undefined;
}

/**
 * Which device computes what, what is copied for that, and how long is waited. A slice belongs to the `llama_decode` around it, on the same thread, and what
 * a call has computed and any thread waits for or reads behind it to that call: logits are when somebody asks for them.
 */
export class OffloadLedger {
  readonly #devices = new Map<string, Device>();
  readonly #threads = new Map<Track, Thread>();
  /** By process: its last call. */
  readonly #calls = new Map<number, Slice>();
  /** How many slices wait, of all threads. */
  #waiting = 0;

  constructor(readonly stopped: StoppedTimes) {}

  /** A part of a graph, a copy, a wait. */
  slice(slice: Slice): void {
    const { track } = slice;
    let thread = this.#threads.get(track);
    if (!thread) this.#threads.set(track, thread = { pending: [], begun: undefined });
    const call = this.#calls.get(track.pid);
    // With the first that is no wait and reads no result a thread has begun something else: the cache's content is saved or put back, another model is
    // loaded, a picture is encoded.
    if (!isBehindCall(slice)) thread.begun = call;
    thread.pending.push({ slice, behind: call && thread.begun !== call ? phaseOf(call) : "other" });
    if (++this.#waiting > MOST_PENDING) this.#settleAll();
  }

  /** Returns how long the call had other devices than the CPU compute, moved something to or from them, or waited for them. */
  decode(call: Slice): number {
    const { track, start, end } = call, phase = phaseOf(call);
    const inside = (slice: Slice) => slice.start >= start && slice.end <= end;
    let ns = 0;
    for (const { slice } of this.#threads.get(track)?.pending ?? []) {
      if (inside(slice) && !slice.open && deviceOf(slice) !== "CPU") ns += this.stopped.net(track.pid, slice.start, slice.end);
    }
    this.#settle(track, (slice, behind) => slice.start < start ? behind : inside(slice) ? phase : "other");
    this.#calls.set(track.pid, call);
    return ns;
  }

  result(): OffloadResult | null {
    this.#settleAll();
    if (this.#devices.size === 0) return null;
    this.#nameAlike();
    const layers = this.#layers(), output = this.#output();
    return {
      devices: [...this.#devices].map(([name, { computed, waited, moved, placed }]) => ({
        name,
        layers: layers.filter(([, device]) => device === name).map(([layer]) => layer),
        output: output === name,
        splits: total(computed).calls,
        nodes: [...placed].reduce((n, [{ nodes }, calls]) => n + nodes * callsOf(calls), 0),
        operators: operatorsOf(placed),
        computed,
        waited,
        moved,
      })),
      copies: [...this.#devices].flatMap(([device, { copies }]) =>
        [...copies.values()].map(({ copy, sums }) => ({ device, ...copy, ...total(sums), ...sums }))
      ).sort((a, b) => b.bytes - a.bytes),
      elsewhere: this.#elsewhere(new Map(layers)),
      untoldNodes: this.#placed().reduce((n, { placement: { nodes, told } }) => n + nodes - told.size, 0),
    };
  }

  /** Until something was copied for it, a device was called by its kind alone: what was counted there is that of the one of its kind. */
  #nameAlike(): void {
    for (const [name, before] of [...this.#devices]) {
      const numbered = [...this.#devices].filter(([other]) => other.startsWith(name) && /^\d+$/.test(other.slice(name.length)));
      const [only] = numbered;
      if (!only || numbered.length > 1) continue;
      merge(only[1], before);
      this.#devices.delete(name);
    }
  }

  #settleAll(): void {
    for (const track of [...this.#threads.keys()]) this.#settle(track, (_, behind) => behind);
  }

  #settle(track: Track, phaseOf: (slice: Slice, behind: Phase) => Phase): void {
    const pending = this.#threads.get(track)?.pending ?? [];
    this.#threads.delete(track);
    this.#waiting -= pending.length;
    for (const { slice, behind } of pending) {
      this.#add(slice, phaseOf(slice, behind), slice.open ? 0 : this.stopped.net(track.pid, slice.start, slice.end));
    }
  }

  #add(slice: Slice, phase: Phase, ns: number): void {
    const { category, name, args, placed } = slice;
    const device = this.#device(deviceOf(slice));
    const more = { calls: 1, bytes: Number(args?.bytes ?? 0), ns };
    if (category === "ggml.device_wait") return add(device.waited[phase], more);
    if (category === "ggml.copy") {
      add(device.moved[phase], more);
      const time = (args?.time ?? "copying") as Copy["time"], way = name.slice(0, name.indexOf(" ")) as Copy["way"];
      return add(copyIn(device, { way, name: tensorKind(String(args?.tensor)), time })[phase], more);
    }
    add(device.computed[phase], more);
    if (placed) callsIn(device, placed)[phase]++;
  }

  #device(name: string): Device {
    let device = this.#devices.get(name);
    if (!device) this.#devices.set(name, device = { computed: sums(), waited: sums(), moved: sums(), copies: new Map(), placed: new Map() });
    return device;
  }

  #placed(): { device: string; placement: Placement; calls: Readonly<Record<Phase, number>> }[] {
    return [...this.#devices].flatMap(([device, { placed }]) => [...placed].map(([placement, calls]) => ({ device, placement, calls })));
  }

  /** Where most products of a layer are computed. */
  #layers(): [layer: number, device: string][] {
    const votes = new Map<number, Map<string, number>>();
    for (const { device, layer } of this.#products()) {
      if (layer === undefined) continue;
      const of = votes.get(layer) ?? new Map<string, number>();
      votes.set(layer, of.set(device, (of.get(device) ?? 0) + 1));
    }
    return [...votes].sort(([a], [b]) => a - b).map(([layer, of]) => [layer, [...of].reduce((most, one) => one[1] > most[1] ? one : most)[0]]);
  }

  /** Where the product behind the last layer is computed, which makes the logits. */
  #output(): string | undefined {
    return this.#products().findLast(({ name }) => name === OUTPUT)?.device;
  }

  #elsewhere(layers: ReadonlyMap<number, string>): OffloadResult["elsewhere"] {
    const found = this.#nodes().filter(({ op, layer, device }) => !VIEWS.has(op) && layer !== undefined && (layers.get(layer) ?? device) !== device);
    const groups = Map.groupBy(found, ({ op, name, device }) => `${op} ${PRODUCTS.has(op) && ofCache(name)} ${device}`);
    return [...groups.values()].map((nodes) => {
      const [{ op: operator, device, name }] = nodes as [PlacedNode];
      return { operator, device, nodes: nodes.length, ...PRODUCTS.has(operator) && { ofCache: ofCache(name) } };
    });
  }

  #products(): PlacedNode[] {
    return this.#nodes().filter(({ op }) => PRODUCTS.has(op));
  }

  /** For generated tokens, if any were: a long prompt may be computed elsewhere. */
  #nodes(): PlacedNode[] {
    const all = this.#placed();
    const generated = all.filter(({ calls }) => calls.decode > 0);
    const placed = generated.length > 0 ? generated : all;
    return placed.flatMap(({ device, placement: { told } }) =>
      [...told.values()].map((node) => ({ ...node, device: device === BLAS ? "CPU" : device }))
    );
  }
}

/** By the names that llama.cpp gives to products of keys, queries and values: there are no weights in them. */
function ofCache(name: string): boolean {
  return /^kqv?(?![a-z0-9])/.test(name);
}

function deviceOf({ placed, args }: Slice): string {
  return placed?.device ?? String(args?.device);
}

function callsOf(calls: Readonly<Record<Phase, number>>): number {
  return PHASES.reduce((sum, phase) => sum + calls[phase], 0);
}

function operatorsOf(placed: ReadonlyMap<Placement, Readonly<Record<Phase, number>>>): { name: string; nodes: number }[] {
  const nodes = new Map<string, number>();
  for (const [{ told }, calls] of placed) for (const { op } of told.values()) nodes.set(op, (nodes.get(op) ?? 0) + callsOf(calls));
  return [...nodes].map(([name, nodes]) => ({ name, nodes })).sort((a, b) => b.nodes - a.nodes);
}

function copyIn({ copies }: Device, copy: Copy): Sums {
  const key = `${copy.way} ${copy.name} ${copy.time}`;
  let known = copies.get(key);
  if (!known) copies.set(key, known = { copy, sums: sums() });
  return known.sums;
}

function callsIn({ placed }: Device, placement: Placement): Record<Phase, number> {
  let calls = placed.get(placement);
  if (!calls) placed.set(placement, calls = { prefill: 0, decode: 0, other: 0 });
  return calls;
}

/** Adds all of the second to the first. */
function merge(into: Device, { computed, waited, moved, copies, placed }: Device): void {
  for (const phase of PHASES) {
    add(into.computed[phase], computed[phase]);
    add(into.waited[phase], waited[phase]);
    add(into.moved[phase], moved[phase]);
    for (const { copy, sums } of copies.values()) add(copyIn(into, copy)[phase], sums[phase]);
    for (const [placement, calls] of placed) callsIn(into, placement)[phase] += calls[phase];
  }
}

function add(sum: Sum, { calls, bytes, ns }: Readonly<Sum>): void {
  sum.calls += calls;
  sum.bytes += bytes;
  sum.ns += ns;
}

function total(sums: Sums): Sum {
  const all = sum();
  for (const phase of PHASES) add(all, sums[phase]);
  return all;
}

/** Behind a call of the engine a thread waits for its devices and reads its results. */
function isBehindCall({ category, name, args }: Slice): boolean {
  if (category === "ggml.device_wait") return true;
  return category === "ggml.copy" && name.startsWith("from ") && !/^cache_|\.weight$/.test(String(args?.tensor));
}

import type { Decoder, Event } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { Args, Placement, SpanSink, Track } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import { withGraphs } from "../../lib/programs/detail.ts";
import type { Param, Probe } from "../../lib/programs/probe.ts";
import { ProcessCode } from "../process/code.ts";
import template from "./backends.bt" with { type: "text" };
import { CPU, Devices, HOST, LIBRARIES, withoutPrefix } from "./devices.ts";
import { tensorLayout } from "./layout.ts";
import { cpuBackend } from "./library.ts";
import { OperatorNames } from "./operator_names.ts";
import { isNode, layerOf } from "./tensor.ts";

/**
 * Functions that move what a tensor holds, with the tensor and how many bytes: ggml_backend_tensor_set(tensor, data, offset, size) and
 * _2d(…, size, copies, …). The asynchronous ones have the backend before these.
 */
const MOVES = [
  { function: "", tensor: "arg0", bytes: "arg3", when: "" },
  { function: "_2d", tensor: "arg0", bytes: "arg3 * arg4", when: "" },
  { function: "_async", tensor: "arg1", bytes: "arg4", when: "_async" },
  { function: "_2d_async", tensor: "arg1", bytes: "arg4 * arg5", when: "_async" },
].flatMap((move) => ["set", "get"].map((way) => ({ ...move, name: `${way}${move.function}`, record: `${way}${move.when}` })));

/** Where a tensor lies is known by the buffer: by that of the one whose memory it shows, if it is a view. */
const moves = MOVES.map(({ name, record, tensor, bytes }) => `
{{${name}}} /FILTER/ {
  $t = ${tensor};
  $owner = *(uint64 *)($t + {{view}});
  if ($owner == 0) { $owner = $t; }
  EMIT(${record}, *(uint64 *)(*(uint64 *)($owner + 8) + 8), ${bytes}, buf($t + {{name}}, 64));
}
{{${name}_return}} /FILTER/ { EMIT(moved); }
`);

const FUNCTIONS: Readonly<Record<string, string>> = {
  split: "graph_compute_async",
  wait: "synchronize",
  copy: "tensor_copy",
  ...Object.fromEntries(MOVES.map(({ name }) => [name, `tensor_${name}`])),
};

const sites = Object.entries(FUNCTIONS).flatMap(([name, end]): [string, Param][] => {
  const site = { type: "site", functions: [[`ggml_backend_${end}`]], beside: "libggml-base" } as const;
  return [[name, { ...site, at: "entry" }], [`${name}_return`, { ...site, at: "return" }]];
});

/** A device may copy from another buffer itself, asked by the scheduler through a pointer. */
const OWN = Object.keys(LIBRARIES).filter((library) => LIBRARIES[library]!.copies !== undefined);

const ownCopies = OWN.flatMap((library): [string, Param][] => {
  const name = `ggml_backend_${LIBRARIES[library]!.copies}_cpy_tensor_async`;
  // bool (backend, backend, const tensor *, tensor *), in no header.
  const functions = [[`_ZL${name.length}${name}P12ggml_backendS0_PK11ggml_tensorPS1_`]];
  const site = { type: "site", functions, beside: `libggml-${library}`, internal: true } as const;
  const copy = `${library}_copy`;
  return [[copy, { ...site, at: "entry" }], [`${copy}_return`, { ...site, at: "return" }], [`sees_${copy}`, { type: "exists", site: copy }]];
});

const ownCopy = `
${OWN.map((library) => `{{${library}_copy}}`).join(", ")} /FILTER/ {
  EMIT(own, *(uint64 *)(*(uint64 *)(arg3 + 8) + 8), *(uint64 *)(arg2 + 40) * *(uint64 *)(arg2 + 72), buf(arg3 + {{name}}, 64));
}
${OWN.map((library) => `{{${library}_copy_return}}`).join(", ")} /FILTER/ { EMIT(own_return, retval % 256); }
`;

const address = (name: string) => ({ name, type: "int", unit: "address" }) as const;
const number = (name: string) => ({ name, type: "int" }) as const;

/** What ggml's scheduler has other backends than the CPU's do: parts of graphs, copies, waits. */
export const backends: Probe = {
  name: "ggml/backends",
  summary: "ggml: what other devices compute, copies to and from them, waits for them",
  template: template.replace("SEES", OWN.map((library) => `{{sees_${library}_copy}}`).join(" + ")) + moves.join("") + ownCopy,
  params: { ...Object.fromEntries([...sites, ...ownCopies]), view: tensorLayout.view, name: tensorLayout.name },
  library: { ...cpuBackend, symbols: ["ggml_graph_compute"] },
  // Something else than the CPU to compute on.
  given: /^libggml-(?!base|cpu)/,
  details: withGraphs,
  sees: ["process/life.task", "process/life.exec", "process/life.exit"],
  facts: ["table", "code"],
  names: [],
  texts: {
    "node.name": "model",
    "set.name": "model",
    "get.name": "model",
    "set_async.name": "model",
    "get_async.name": "model",
    "copy.name": "model",
    "own.name": "model",
  },
  records: {
    split: [address("backend"), address("code"), address("graph"), number("nodes"), number("seesCopies")],
    split_return: [],
    node: [number("index"), { name: "op", type: "int", unit: "index into GGML_OP_NAME" }, { name: "name", type: "text" }],
    wait: [address("backend"), address("code")],
    wait_return: [],
    set: [address("code"), number("bytes"), { name: "name", type: "text" }],
    get: [address("code"), number("bytes"), { name: "name", type: "text" }],
    // A backend that cannot is asked for one of those above instead.
    set_async: [address("code"), number("bytes"), { name: "name", type: "text" }],
    get_async: [address("code"), number("bytes"), { name: "name", type: "text" }],
    copy: [address("code"), number("bytes"), { name: "name", type: "text" }],
    moved: [],
    own: [address("code"), number("bytes"), { name: "name", type: "text" }],
    // 0: it did not, and the scheduler asks in another way.
    own_return: [number("ok")],
  },
  decoder: (tracks) => new BackendsDecoder(tracks),
};

/** Something that a thread is in the middle of. */
interface Begun {
  readonly name: string;
  readonly category: string;
  readonly start: Ns;
  readonly args: Args;
  readonly placed?: Placement;
  /** It asks for another of its kind, which is told instead. */
  passedOn?: true;
}

class BackendsDecoder implements Decoder {
  readonly #code = new ProcessCode();
  readonly #devices = new Devices((pid, address) => this.#code.find(pid, address));
  /** By thread, the innermost last. Null: of something that only the CPU does. */
  readonly #begun = new Map<number, { readonly track: Track; readonly stack: (Begun | null)[] }>();
  /** By process, address and length of the list of nodes, and device: two may have the same list in turns. */
  readonly #placed = new Map<string, Placement>();
  /** By thread: the part whose nodes it tells. */
  readonly #telling = new Map<number, Placement>();
  /** Devices of which it was told that not all their copies are seen. */
  readonly #unseen = new Set<string>();
  /** Process and device, which nobody waited for since it was asked to compute. */
  readonly #computing = new Set<string>();
  /** Processes whose tensors are laid out as in no ggml that is known here. */
  readonly #strange = new Set<number>();
  readonly #operators = new OperatorNames();

  constructor(readonly tracks: Tracks) {}

  fact(fact: Fact): void {
    this.#code.fact(fact);
    this.#operators.fact(fact);
  }

  event(event: Event, out: SpanSink): void {
    switch (event.record) {
      case "ggml/backends.split":
        return this.#split(event, out);
      case "ggml/backends.node":
        return this.#node(event, out);
      case "ggml/backends.wait":
        return this.#wait(event);
      case "ggml/backends.set":
      case "ggml/backends.get":
      case "ggml/backends.set_async":
      case "ggml/backends.get_async":
      case "ggml/backends.copy":
      case "ggml/backends.own":
        return this.#move(event);
      case "ggml/backends.own_return":
        if (event.values[0] === 0) this.#begun.get(event.tid)?.stack.pop();
        else this.#end(event.tid, event.at, false, out);
        return;
      case "ggml/backends.split_return":
      case "ggml/backends.wait_return":
      case "ggml/backends.moved":
        return this.#end(event.tid, event.at, false, out);
      default:
        return this.#code.life(event);
    }
  }

  end(at: Ns, out: SpanSink): void {
    for (const tid of this.#begun.keys()) this.#endAll(tid, at, out);
  }

  #split(event: Event, out: SpanSink): void {
    const { pid, tid, at } = event;
    const [backend, code, graph, nodes, seesCopies] = event.values as [number, number, number, number, number];
    // The returns of what is still open were lost.
    this.#endAll(tid, at, out);
    const device = this.#devices.ofSplit(pid, tid, backend, code);
    // It computes by asking several devices (-sm tensor): what each of them is asked is seen, and its nodes are told with that.
    if (device === HOST) {
      this.#telling.delete(tid);
      return this.#begin(event, null);
    }
    if (seesCopies === 0 && this.#devices.copiesItself(pid, code) && !this.#unseen.has(device)) {
      this.#unseen.add(device);
      const text = `${device} may copy by itself, which is not seen: its library was stripped of the names of its own functions`;
      out({ type: "mark", at, kind: "note", stream: event.stream, text });
    }
    const key = `${pid} ${graph} ${nodes} ${device}`;
    let placed = this.#placed.get(key);
    if (!placed) this.#placed.set(key, placed = { device, nodes, told: new Map() });
    this.#telling.set(tid, placed);
    this.#computing.add(`${pid} ${device}`);
    this.#begin(event, { name: device, category: "ggml.split", start: at, args: { nodes }, placed });
  }

  /** One node that cannot be is enough to believe none of the process. */
  #node({ at, pid, tid, stream, values }: Event, out: SpanSink): void {
    const [index, op, name] = values as [number, number, string];
    const placed = this.#telling.get(tid);
    if (!placed || this.#strange.has(pid)) return;
    const operators = this.#operators.of(stream);
    if (isNode(op, name, operators.length)) {
      return void placed.told.set(index, { op: operators[op] ?? `op ${op}`, name, layer: layerOf(name) });
    }
    this.#strange.add(pid);
    for (const [key, { told }] of this.#placed) if (key.startsWith(`${pid} `)) told.clear();
    const text =
      `process ${pid}: this build of ggml lays out its tensors as none that llmprof knows: which device computes what is counted, and has no names`;
    out({ type: "mark", at, kind: "note", stream, text });
  }

  #wait(event: Event): void {
    const [backend, code] = event.values as [number, number];
    const device = this.#devices.of(event.pid, backend, code);
    this.#computing.delete(`${event.pid} ${device}`);
    const begun = { name: `wait for ${device}`, category: "ggml.device_wait", start: event.at, args: { device } };
    this.#begin(event, device === CPU || device === HOST ? null : begun);
  }

  #move(event: Event): void {
    const { record, pid, tid, at, values } = event;
    const name = values.at(-1) as string, bytes = values.at(-2) as number;
    const isRead = record.startsWith("ggml/backends.get");
    const device = this.#devices.ofBuffer(pid, tid, values[0] as number, name);
    for (const outer of this.#begun.get(tid)?.stack ?? []) if (outer?.category === "ggml.copy") outer.passedOn = true;
    const way = isRead ? "from" : "to";
    const tensor = withoutPrefix(name), layer = layerOf(tensor);
    const args = { device, tensor, ...layer !== undefined && { layer }, bytes, ...this.#timeOf(event, device) };
    this.#begin(event, device === HOST ? null : { name: `${way} ${device}`, category: "ggml.copy", start: at, args });
  }

  /** What else than the copy the call takes: only to ask for it, or until the device has computed what is read. */
  #timeOf({ record, pid }: Event, device: string): Args {
    if (record.endsWith("_async") || record === "ggml/backends.own") return { time: "asking" };
    // After that it has.
    const waits = record === "ggml/backends.get" && this.#computing.delete(`${pid} ${device}`);
    return waits ? { time: "computing, too" } : {};
  }

  #begin({ pid, tid }: Event, begun: Begun | null): void {
    let thread = this.#begun.get(tid);
    if (!thread) this.#begun.set(tid, thread = { track: this.tracks.thread(pid, tid), stack: [] });
    thread.stack.push(begun);
  }

  #end(tid: number, end: Ns, open: boolean, out: SpanSink): void {
    const thread = this.#begun.get(tid);
    const begun = thread?.stack.pop();
    if (!thread || !begun || begun.passedOn) return;
    const { name, category, start, args, placed } = begun;
    out({ type: "slice", track: thread.track, name, category, start, end, args, ...open && { open }, ...placed && { placed } });
  }

  #endAll(tid: number, at: Ns, out: SpanSink): void {
    const stack = this.#begun.get(tid)?.stack ?? [];
    while (stack.length > 0) this.#end(tid, at, true, out);
  }
}

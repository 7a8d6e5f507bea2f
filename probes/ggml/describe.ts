import type { Event, Field } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import { BY_FUNCTIONS } from "../../lib/programs/detail.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import fragment from "./describe.bt" with { type: "text" };
import { OperatorNames } from "./operator_names.ts";
import { describe, fits, isSource, judge, placeInStack, type Source, sourceOf, SOURCES, type Tensor } from "./tensor.ts";

/** What a tensor is said to be, whether it is computed or a source. */
const described: readonly Field[] = [
  { name: "type", type: "int", unit: "ggml_type + 2^32 × bytes of a block (0: not told)" },
  { name: "ne0", type: "int" },
  { name: "ne1", type: "int" },
  { name: "ne2", type: "int" },
  { name: "ne3", type: "int" },
  { name: "name", type: "text" },
];

/** What a template that says DESCRIBE sends. */
export const descriptions: Pick<Probe, "records" | "texts"> = {
  records: {
    // Of the tensor that the same thread describes next.
    source: [
      { name: "index", type: "int", unit: "index + 16 × its address" },
      // The tensor whose memory it shows: itself, if it is no view.
      { name: "root", type: "int", unit: "address" },
      // What that is computed from first, and what that is: the way to a node where those between are fused into it.
      { name: "behind", type: "int", unit: "address" },
      { name: "further", type: "int", unit: "address" },
      { name: "root_op", type: "int", unit: "index into GGML_OP_NAME" },
      { name: "behind_op", type: "int", unit: "index into GGML_OP_NAME" },
      ...described,
    ],
    // Whose memory the tensor has that the same thread describes next, where that is not its own.
    into: [{ name: "root", type: "int", unit: "address" }],
    tensor: [
      { name: "address", type: "int", unit: "address" },
      { name: "op", type: "int", unit: "index into GGML_OP_NAME" },
      ...described,
    ],
  },
  texts: { "tensor.name": "model", "source.name": "model" },
};

/** At the end of a process: what its tensors are. */
const FORGET = `for ($row : @known) { if ($row.0.0 == pid) { delete(@known, $row.0); } }
    delete(@described[pid]);`;

/** The template with the description of a tensor where it says DESCRIBE, and what undoes it where it says FORGET_DESCRIBED. */
export function describing(template: string): string {
  return template.replace("DESCRIBE", () => fragment).replace("FORGET_DESCRIBED", () => FORGET);
}

/** What addresses stand for. */
export class Tensors {
  readonly #names = new OperatorNames();
  /** By process: address → what it stands for since the last `tensor` record. */
  readonly #tensors = new Map<number, Map<number, Tensor>>();
  /** Process and stream: tensors that are laid out as in no ggml that is known here. */
  readonly #strange = new Set<string>();
  /** Process and stream: a product had its sizes, so the layout is right. What does not fit from then on has lost a record, and has others' sources. */
  readonly #fitting = new Set<string>();
  /** By thread: of the tensor that it describes next. */
  readonly #sources = new Map<number, (Source | undefined)[]>();
  readonly #into = new Map<number, number>();

  find(pid: number, address: number): Tensor | undefined {
    return this.#tensors.get(pid)?.get(address);
  }

  fact(fact: Fact): void {
    this.#names.fact(fact);
  }

  source(event: Event, out: SpanSink): void {
    const { tid, stream, values } = event;
    const index = values[0] as number % SOURCES, names = this.#names.of(stream);
    // A recording is anybody's.
    if (!(index >= 0)) return;
    if (!isSource(values, names)) return this.#distrust(event, out);
    let sources = this.#sources.get(tid);
    if (!sources) this.#sources.set(tid, sources = []);
    sources[index] = sourceOf(values, names);
  }

  into({ tid, values }: Event): void {
    this.#into.set(tid, values[0] as number);
  }

  tensor(event: Event, out: SpanSink): void {
    const { pid, tid, stream, values } = event;
    let sources = this.#sources.get(tid) ?? [], into = this.#into.get(tid);
    this.#sources.delete(tid);
    this.#into.delete(tid);
    const library = `${pid} ${stream}`;
    if (this.#strange.has(library)) return;
    const names = this.#names.of(stream);
    const address = values[0] as number;
    let tensors = this.#tensors.get(pid);
    if (!tensors) this.#tensors.set(pid, tensors = new Map());
    switch (judge(values, names.length)) {
      case "tensor": {
        const isFit = fits(values, sources, names);
        if (isFit) this.#fitting.add(library);
        else if (isFit === false && !this.#fitting.has(library)) return this.#distrust(event, out);
        else if (isFit === false) [sources, into] = [[], undefined];
        const tensor = describe(values, sources, names, tensors.get(address), into);
        placeInStack(tensor, (address) => tensors.get(address));
        return void tensors.set(address, tensor);
      }
      case "unread":
        return void tensors.delete(address);
      case "strange":
        return this.#distrust(event, out);
    }
  }

  /** One tensor that cannot be is enough to believe none of the process and its library: a table of wrong names looks like any other. */
  #distrust({ at, pid, stream }: Event, out: SpanSink): void {
    const library = `${pid} ${stream}`;
    if (this.#strange.has(library)) return;
    this.#strange.add(library);
    this.#tensors.get(pid)?.clear();
    const strange = `process ${pid}: this build of ggml lays out its tensors as none that llmprof knows`;
    const text = `${strange}: its operators are timed, and have no names; ${BY_FUNCTIONS}`;
    out({ type: "mark", at, kind: "note", stream, text });
  }
}

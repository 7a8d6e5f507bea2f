import type { Event, Field } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import { BY_FUNCTIONS } from "../../lib/programs/detail.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import fragment from "./describe.bt" with { type: "text" };
import { OperatorNames } from "./operator_names.ts";
import { describe, hasSizesOf, isSource, judge, placeInStack, type Source, sourceOf, type Tensor } from "./tensor.ts";

/** What a tensor is said to be, whether it is computed or a source. */
const described: readonly Field[] = [
  { name: "type", type: "int", unit: "ggml_type" },
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
      { name: "index", type: "int" },
      // The tensor whose memory it shows: itself, if it is no view.
      { name: "root", type: "int", unit: "address" },
      // What that is computed from first, and what that is: the way to a node where those between are fused into it.
      { name: "behind", type: "int", unit: "address" },
      { name: "further", type: "int", unit: "address" },
      { name: "root_op", type: "int", unit: "index into GGML_OP_NAME" },
      { name: "behind_op", type: "int", unit: "index into GGML_OP_NAME" },
      ...described,
    ],
    tensor: [
      { name: "address", type: "int", unit: "address" },
      { name: "op", type: "int", unit: "index into GGML_OP_NAME" },
      ...described,
    ],
  },
  texts: { "tensor.name": "model", "source.name": "model" },
};

/** The template with the description of a tensor where it says DESCRIBE. */
export function describing(template: string): string {
  return template.replace("DESCRIBE", () => fragment);
}

/** More than a tensor has of them (ggml's GGML_MAX_SRC is 10). A recording is anybody's, and a list of a place far behind would be walked through. */
const MOST_SOURCES = 16;

/** What addresses stand for. */
export class Tensors {
  readonly #names = new OperatorNames();
  /** By process: address → what it stands for since the last `tensor` record. */
  readonly #tensors = new Map<number, Map<number, Tensor>>();
  /** Process and stream: tensors that are laid out as in no ggml that is known here. */
  readonly #strange = new Set<string>();
  /** By thread: of the tensor that it describes next. */
  readonly #sources = new Map<number, (Source | undefined)[]>();

  find(pid: number, address: number): Tensor | undefined {
    return this.#tensors.get(pid)?.get(address);
  }

  fact(fact: Fact): void {
    this.#names.fact(fact);
  }

  source(event: Event, out: SpanSink): void {
    const { tid, stream, values } = event;
    const index = values[0] as number, names = this.#names.of(stream);
    if (!(index >= 0 && index < MOST_SOURCES)) return;
    if (!isSource(values, names)) return this.#distrust(event, out);
    let sources = this.#sources.get(tid);
    if (!sources) this.#sources.set(tid, sources = []);
    sources[index] = sourceOf(values, names);
  }

  tensor(event: Event, out: SpanSink): void {
    const { pid, tid, stream, values } = event;
    const sources = this.#sources.get(tid) ?? [];
    this.#sources.delete(tid);
    if (this.#strange.has(`${pid} ${stream}`)) return;
    const names = this.#names.of(stream);
    const address = values[0] as number;
    let tensors = this.#tensors.get(pid);
    if (!tensors) this.#tensors.set(pid, tensors = new Map());
    switch (judge(values, names.length)) {
      case "tensor": {
        if (!hasSizesOf(values, sources, names)) return this.#distrust(event, out);
        const tensor = describe(values, sources, names, tensors.get(address));
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

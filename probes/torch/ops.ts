import type { Decoder, Event } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { Args, SpanSink } from "../../lib/events/span.ts";
import type { Ns } from "../../lib/events/time.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import { withEveryOperator } from "../../lib/programs/detail.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { ProcessCode } from "../process/code.ts";
import { ip, popped } from "../process/registers.ts";
import { isOperator, libtorch, operatorOf } from "./library.ts";
import template from "./ops.bt" with { type: "text" };
import { placesOf, reading, shapeFields, tensorPlaces } from "./shapes.ts";

const called = [{ name: "function", type: "int", unit: "address" }, { name: "began", type: "time" }] as const;

/** Each call of the operators behind these functions, mangled names of `at::_ops::….::call`; of all without. */
export function ops(functions?: readonly string[]): Probe {
  const names = functions?.map((name) => [name]) ?? [isOperator];
  return {
    name: "torch/ops",
    summary: "PyTorch: each operator, those inside others too",
    template: reading(template),
    params: {
      call: { type: "site", at: "entry", functions: names, together: "torch" },
      back: { type: "site", at: "return", functions: names, together: "torch" },
      ip,
      popped,
    },
    library: libtorch,
    names: names.flat(),
    sees: ["process/life.task", "process/life.exec", "process/life.exit"],
    facts: ["code"],
    hot: true,
    details: withEveryOperator,
    share: { call: ["op", "shaped"], back: ["op", "shaped"] },
    records: {
      op: called,
      // With torch/shapes, these instead.
      shaped: [...called, { name: "shape", type: "int", unit: "id, 0: not known" }],
      shape: shapeFields,
    },
    decoder: (tracks) => new OpsDecoder(tracks),
  };
}

class OpsDecoder implements Decoder {
  readonly #code = new ProcessCode();
  /** By id: what was read at each place. */
  readonly #shapes = new Map<number, readonly (string | undefined)[]>();
  /** By shape and function: one object for all calls that have them. */
  readonly #args = new Map<number, Map<string, Args>>();

  /** Shapes were asked for. */
  #asks = false;

  constructor(readonly tracks: Tracks) {}

  fact(fact: Fact): void {
    this.#code.fact(fact);
  }

  event(event: Event, out: SpanSink): void {
    const { record, at, pid, tid, values } = event;
    if (record === "torch/ops.shape") return void this.#shape(values as number[]);
    if (record !== "torch/ops.op" && record !== "torch/ops.shaped") return this.#code.life(event);
    const [address, began, shape] = values as readonly number[];
    if (shape !== undefined) this.#asks = true;
    const symbol = this.#code.find(pid, address!)?.name ?? "";
    const name = operatorOf(symbol) ?? "unknown operator";
    const args = shape ? this.#given(shape, symbol) : undefined;
    out({ type: "slice", track: this.tracks.thread(pid, tid), name, category: "torch.op", start: began!, end: at, ...args && { args } });
  }

  #shape(values: readonly number[]): void {
    this.#shapes.set(values[0]!, placesOf(values));
  }

  /** Shapes of the tensors that come first among its arguments. Undefined where they were lost, or it has none. */
  #given(shape: number, symbol: string): Args | undefined {
    const places = this.#shapes.get(shape);
    if (!places) return undefined;
    let known = this.#args.get(shape);
    if (!known) this.#args.set(shape, known = new Map());
    let args = known.get(symbol);
    if (!args) {
      const { from, to } = tensorPlaces(symbol);
      known.set(symbol, args = { shapes: places.slice(from, to).map((place) => place ?? "?").join(", ") });
    }
    return args.shapes === "" ? undefined : args;
  }

  end(at: Ns, out: SpanSink): void {
    if (!this.#asks || this.#shapes.size > 0) return;
    const text = "shapes were not read: this PyTorch lays out its tensors as none that is known";
    out({ type: "mark", at, kind: "note", stream: "torch", text });
    this.#asks = false;
  }
}

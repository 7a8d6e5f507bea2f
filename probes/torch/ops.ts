import type { Decoder, Event } from "../../lib/events/event.ts";
import type { Fact } from "../../lib/events/fact.ts";
import type { SpanSink } from "../../lib/events/span.ts";
import type { Tracks } from "../../lib/events/tracks.ts";
import { withEveryOperator } from "../../lib/programs/detail.ts";
import type { Probe } from "../../lib/programs/probe.ts";
import { ProcessCode } from "../process/code.ts";
import { isOperator, libtorch, operatorOf } from "./library.ts";
import template from "./ops.bt" with { type: "text" };

/** Each call of the operators behind these functions, mangled names of `at::_ops::….::call`; of all without. */
export function ops(functions?: readonly string[]): Probe {
  const names = functions?.map((name) => [name]) ?? [isOperator];
  return {
    name: "torch/ops",
    summary: "PyTorch: each operator, those inside others too",
    template,
    params: {
      call: { type: "site", at: "entry", functions: names, together: "torch" },
      back: { type: "site", at: "return", functions: names, together: "torch" },
      ip: { type: "arch", x86_64: 'reg("ip")', aarch64: 'reg("pc")' },
      // By a return: the address that it returns to.
      popped: { type: "arch", x86_64: "8", aarch64: "0" },
    },
    library: libtorch,
    names: names.flat(),
    sees: ["process/life.task", "process/life.exec", "process/life.exit"],
    facts: ["code"],
    hot: true,
    details: withEveryOperator,
    asMany: { site: "call", record: "op" },
    records: { op: [{ name: "function", type: "int", unit: "address" }, { name: "began", type: "time" }] },
    decoder: (tracks) => new OpsDecoder(tracks),
  };
}

class OpsDecoder implements Decoder {
  readonly #code = new ProcessCode();

  constructor(readonly tracks: Tracks) {}

  fact(fact: Fact): void {
    this.#code.fact(fact);
  }

  event(event: Event, out: SpanSink): void {
    if (event.record !== "torch/ops.op") return this.#code.life(event);
    const { at, pid, tid, values } = event;
    const [address, began] = values as readonly number[];
    const name = operatorOf(this.#code.find(pid, address!)?.name ?? "") ?? "unknown operator";
    out({ type: "slice", track: this.tracks.thread(pid, tid), name, category: "torch.op", start: began!, end: at });
  }

  end(): void {}
}

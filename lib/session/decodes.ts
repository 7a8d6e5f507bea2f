import type { Slice, Span } from "../events/span.ts";

/** What is counted of graphs and calls. */
export class Decodes {
  /** Calls of the function that every thread makes for every node. */
  operators = 0;
  /** Nanoseconds of calls that made one token. */
  readonly decodes: number[] = [];

  /** `keepsTimes`: of the calls; without, what is kept does not grow. */
  constructor(readonly keepsTimes = true) {}

  span(span: Span): void {
    if (span.type === "slice") this.slice(span);
  }

  slice({ category, args, start, end, open }: Slice): void {
    if (category === "ggml.graph") this.operators += Number(args?.nodes ?? 0) * Number(args?.threads ?? 1);
    if (this.keepsTimes && category === "llama.decode" && args?.phase === "decode" && args.tokens === 1 && !open) this.decodes.push(end - start);
  }
}

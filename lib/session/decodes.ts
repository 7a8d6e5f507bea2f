import type { Slice, Span } from "../events/span.ts";

/** A call that made one token. */
export interface Decode {
  /** llama.cpp's, as a number that tells it from others. */
  readonly context: unknown;
  readonly ns: number;
}

/** What is counted of graphs and calls. */
export class Decodes {
  /** Calls of the function that every thread makes for every node. */
  operators = 0;
  readonly decodes: Decode[] = [];

  /** `most`: so many calls are kept, the first ones. */
  constructor(readonly most = Infinity) {}

  span(span: Span): void {
    if (span.type === "slice") this.slice(span);
  }

  slice({ category, args, start, end, open }: Slice): void {
    if (category === "ggml.graph") this.operators += Number(args?.nodes ?? 0) * Number(args?.threads ?? 1);
    if (this.decodes.length >= this.most || category !== "llama.decode" || open) return;
    if (args?.phase === "decode" && args.tokens === 1) this.decodes.push({ context: args.context, ns: end - start });
  }
}

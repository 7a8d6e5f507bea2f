import type { ByteSink, Exporter, OpenExporter } from "../lib/events/exporter.ts";
import type { GpuCall } from "../lib/events/gpu.ts";
import type { Span } from "../lib/events/span.ts";
import type { Ns } from "../lib/events/time.ts";
import { TextBlocks } from "./blocks.ts";
import { toJson } from "./json.ts";

/** By whose call it is; those of others are not part of such a file. */
const TYPES: Readonly<Record<string, string>> = { cuda: "cuda_api", cudart: "cuda_runtime" };

/**
 * One JSON object a line for each CUDA call, for whoever has scripts on such files: `ts` (milliseconds since counting began), `pid`, `type`, `func` without
 * the end of its version, `phase`, which is always `entry`; behind them `tid`, `dur` (milliseconds), and what is known of `bytes`, `stream` and `ret`.
 * Calls stand in the order in which they ended; behind them those that had not, without `ret` and with the `dur` for which they had lasted.
 */
export const openCudaJsonl: OpenExporter = (sink) => new CudaJsonlExporter(sink);

class CudaJsonlExporter implements Exporter {
  readonly #out: TextBlocks;
  #begin: Ns = NaN;

  constructor(sink: ByteSink) {
    this.#out = new TextBlocks(sink);
  }

  span(span: Span): void {
    if (span.type === "mark" && span.kind === "window" && span.open && Number.isNaN(this.#begin)) this.#begin = span.at;
    if (span.type !== "slice") return;
    const call: Pick<GpuCall, "family" | "result" | "bytes" | "stream"> | null = span.gpu ??
      (span.category === "gpu.unfinished" ? { family: String(span.args!.library), result: null } : null);
    if (!call) return;
    const { name, start, end, track: { pid, tid } } = span;
    const { family, result, bytes, stream } = call;
    const type = TYPES[family];
    if (type === undefined) return;
    const ts = milliseconds(start - this.#begin);
    const known = { ...bytes !== undefined && { bytes }, ...stream !== undefined && { stream }, ...result !== null && { ret: result } };
    this.#out.write(`${toJson({ ts, pid, type, func: name, phase: "entry", tid, dur: milliseconds(end - start), ...known })}\n`);
    if (this.#out.isFull) this.flush();
  }

  flush(): void {
    this.#out.tail(() => {});
  }

  close(): void {
    this.#out.close();
  }
}

function milliseconds(ns: number): number {
  return Math.round(ns) / 1e6;
}

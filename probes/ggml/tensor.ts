import type { Value } from "../../lib/events/event.ts";
import type { Args } from "../../lib/events/span.ts";

/** What an operator's slice says of the tensor that it computes. */
export interface Tensor {
  /** `MUL_MAT`; `op 29` where the library's table of names could not be read. */
  readonly op: string;
  /** `ffn_gate-3`: ggml's own name. */
  readonly name: string;
  /** Elements by dimension, as ggml counts them: `1024×1`. Dimensions of 1 at the end are left out, the second stays. */
  readonly shape: string;
  /** Transformer layer, where the name carries one. */
  readonly layer: number | undefined;
  /** Arguments of its slices, by worker: they repeat for every token, so they are made once and are one object each. */
  readonly args: (Args | undefined)[];
}

/** From the fields of a `tensor` record. */
export function describe(values: readonly Value[], opNames: readonly string[]): Tensor {
  const [, op, , ne0, ne1, ne2, ne3, name] = values as [number, number, number, number, number, number, number, string];
  const ne = [ne0, ne1, ne2, ne3];
  while (ne.length > 2 && ne.at(-1) === 1) ne.pop();
  return { op: opNames[op] ?? `op ${op}`, name, shape: ne.join("×"), layer: layerOf(name), args: [] };
}

/** What the slice of a worker that computes the tensor carries. */
export function argsOf({ args, name, shape, layer }: Tensor, worker: number): Args {
  return args[worker] ??= { tensor: name, shape, ...(layer !== undefined && { layer }), worker };
}

/** llama.cpp appends the layer: `ffn_gate-3`, `Kcur-3 (reshaped)`, and in views of its cache `cache_k_l3 (view)`. */
function layerOf(name: string): number | undefined {
  const found = /-(\d+)(?=$| )|^cache_\w+_l(\d+)\b/.exec(name);
  return found ? Number(found[1] ?? found[2]) : undefined;
}

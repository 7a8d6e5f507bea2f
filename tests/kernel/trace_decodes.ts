import { slicesOf } from "./trace_figures.ts";

/** A call of llama_decode; times are CLOCK_BOOTTIME in nanoseconds. */
export interface Decode {
  readonly start: bigint;
  readonly end: bigint;
}

/** The calls that a trace of any format has, in order of their beginning. */
export async function decodesIn(path: string): Promise<Decode[]> {
  if (/\.jsonl$/.test(path)) return ofLines(Deno.readTextFileSync(path));
  const slices = await slicesOf(path, "llama.decode");
  // Chrome's times have an origin of their own.
  const origin = /\.json$/.test(path) ? BigInt(JSON.parse(Deno.readTextFileSync(path)).otherData.clockBase) : 0n;
  return slices.map(({ start, end }) => ({ start: start + origin, end: end + origin }));
}

/** Whole lines, each of them JSON. */
function ofLines(text: string): Decode[] {
  const decodes = text.trimEnd().split("\n").map((line) => JSON.parse(line)).filter(({ category }) => category === "llama.decode");
  return decodes.map(({ start, end }) => ({ start: BigInt(start), end: BigInt(end) })).sort((a, b) => a.start < b.start ? -1 : 1);
}

import { query } from "../judge/trace_processor.ts";

/** What a `.graph.json` says of a graph, as far as tests ask. */
export interface DrawnGraph {
  readonly times: number;
  readonly criticalPath: { readonly nodes: readonly number[]; readonly ns: number };
  readonly nodes: readonly { readonly name: string; readonly meanNs: number }[];
  readonly edges: readonly { readonly from: number | null; readonly to: number; readonly place: number; readonly name: string }[];
  readonly unknownSources: number;
}

/** As many bytes as the independent programs read with every bpftrace. */
export const short = (name: string) => name.slice(0, 31);

/** `from`: whose computation gave the source; undefined for weights, inputs, the cache. */
export const edge = (tensor: string, place: number, source: string, from: string | undefined) =>
  `${short(tensor)} ${place} ${short(source)}${from === undefined ? "" : `, of ${short(from)}`}`;

/** Each edge as often as its graph was computed. */
export function drawnEdges(graphs: readonly DrawnGraph[]): string[] {
  return graphs.flatMap(({ times, nodes, edges }) => {
    const once = edges.map(({ from, to, place, name }) => edge(nodes[to]!.name, place, name, nodes[from ?? -1]?.name));
    return Array.from({ length: times }, () => once).flat();
  });
}

/** Edges of a drawing (`.dot`, `.mmd`), by the names in its labels. */
export function drawnArrows(drawing: string): string[] {
  const labels = [...drawing.matchAll(/^ {2}(\w+) ?(?:\[label=|\(?\[)"(.*?)"/gm)];
  const names = new Map(labels.map(([, id, label]) => {
    // Of a node its operator, name, shape and time; of what is given its name alone.
    const lines = label!.split(/\\n|<br>/);
    return [id!, short(lines[1] ?? lines[0]!)] as const;
  }));
  return [...drawing.matchAll(/^ {2}(\w+) -+> (\w+)/gm)].map(([, from, to]) => `${names.get(from!)} → ${names.get(to!)}`).toSorted();
}

export const tensorOf = (name: string, ne: readonly number[]) =>
  `${short(name)} ${ne.slice(0, Math.max(2, 1 + ne.findLastIndex((n) => n !== 1))).join("×")}`;

/** Tensors of worker 0's slices, in order. */
export async function slicedTensors(trace: string): Promise<string[]> {
  return (await query(trace, slices)).map(({ tensor, shape }) => `${short(String(tensor))} ${shape}`);
}

/** What worker 0 of every process computed, and with what: operators with their tensors, in no order. */
export async function slicedOperators(trace: string): Promise<string[]> {
  return (await query(trace, slices)).map(({ name, tensor, shape }) => `${name}: ${tensor} ${shape}`).sort();
}

const slices = `
select s.name, extract_arg(s.arg_set_id, 'debug.tensor') as tensor, extract_arg(s.arg_set_id, 'debug.shape') as shape
from slice s join track t on t.id = s.track_id
where s.category = 'ggml.op' and t.name = 'worker 0' order by s.ts`;

import type { NumaResult } from "./surroundings_schema.ts";

/** A part of the machine with memory of its own. */
export interface Node {
  readonly node: number;
  readonly cpus: readonly number[];
}

/**
 * Where threads ran and where their memory is. `remote`: the share of accesses that would go to another node if threads touched all of the memory alike, as
 * those that compute a model's graph do; memory that no processor is near to (HBM, CXL) is elsewhere for all. `migrations`: times that a thread came back
 * on another node. Null where there is one node, or nothing was seen of it.
 */
export function numaOf(
  nodes: readonly Node[],
  onNs: ReadonlyMap<number, number>,
  memory: ReadonlyMap<number, number>,
  migrations: number,
): NumaResult | null {
  if (nodes.length < 2) return null;
  const rows = nodes.map(({ node, cpus }) => ({
    node,
    onNs: cpus.reduce((sum, cpu) => sum + (onNs.get(cpu) ?? 0), 0),
    memoryBytes: memory.get(node) ?? 0,
    processors: cpus.length,
  }));
  const [allNs, allBytes] = [rows.reduce((sum, row) => sum + row.onNs, 0), rows.reduce((sum, row) => sum + row.memoryBytes, 0)];
  if (allNs === 0 || allBytes === 0) return null;
  const near = nearOf(rows), nearBytes = near.reduce((sum, row) => sum + row.memoryBytes, 0);
  const remote = nearBytes === 0 ? 0 : near.reduce((sum, row) => sum + row.onNs / allNs * (1 - row.memoryBytes / nearBytes), 0);
  return { nodes: rows, migrations, remote };
}

/** Those that threads can be near to. */
export function nearOf<Row extends { readonly processors: number }>(rows: readonly Row[]): Row[] {
  return rows.filter(({ processors }) => processors > 0);
}

import { counted } from "../events/text.ts";
import type { Note, Table } from "../events/view.ts";
import { tableOf } from "./figures_table.ts";
import type { CriticalPathResult } from "./operators_schema.ts";
import { info } from "./quality.ts";
import { ranges } from "./ranges.ts";
import { sum } from "./sum.ts";

/** Operators of the path beyond these are told together. */
const MOST_ROWS = 3;

/**
 * What of a graph no number of processors would make shorter, and what could be computed beside it. Nothing where each node waits for the one before, or
 * none for any.
 */
export function presentCriticalPath(path: CriticalPathResult): (Table | Note)[] {
  const { times, graphNs, graphNodes, ns, nodes, layers, operators, unknownSources, notKept } = path;
  if (nodes === graphNodes || nodes === 1) return [];
  const others = operators.slice(MOST_ROWS);
  const rows = [
    ...operators.slice(0, MOST_ROWS),
    ...(others.length > 0 ? [{ name: "others on it", nodes: sum(others.map(({ nodes }) => nodes)), ns: sum(others.map(({ ns }) => ns)) }] : []),
    { name: "beside it", nodes: graphNodes - nodes, ns: graphNs - ns },
  ];
  const passed = layers.length > 0 ? `, ${layers.length > 1 ? "layers" : "layer"} ${ranges(layers).join(", ")}` : "";
  const of = `the graph that took the most time${notKept > 0 ? " of those that were kept" : ""}, computed ${counted(times, "time")}${passed}`;
  const table = tableOf(`Critical path of ${of}`, rows, [
    [{ title: "operator", unit: "text" }, (row) => row.name],
    [{ title: "nodes", unit: "count" }, (row) => row.nodes],
    [{ title: "each time", unit: "ns" }, (row) => row.ns],
    [{ title: "of the graph", unit: "ratio" }, (row) => graphNs > 0 ? row.ns / graphNs : null],
  ]);
  if (unknownSources === 0) return [table];
  return [table, info(`Who computes ${counted(unknownSources, "source")} of this graph is not known: its critical path may be longer.`)];
}

import type { Note, Table } from "../events/view.ts";
import { nearOf } from "./numa.ts";
import { mebibytes } from "./figures.ts";
import { tableOf } from "./figures_table.ts";
import { info } from "./quality.ts";
import type { NumaResult } from "./surroundings_schema.ts";

/** A node has nearly all of something. */
const MOST_OF = 0.8;
/** Less of it in another node than where it is used costs little. */
const MATTERS = 0.25;

/** What to do about memory that is elsewhere; empty where little is, or where nothing better is known: threads and memory are everywhere. */
export function numaNotes(result: NumaResult | null): Note[] {
  if (!result || result.remote < MATTERS) return [];
  const nodes = nearOf(result.nodes), { remote } = result;
  const allNs = nodes.reduce((sum, row) => sum + row.onNs, 0), allBytes = nodes.reduce((sum, row) => sum + row.memoryBytes, 0);
  const home = nodes.find(({ memoryBytes }) => memoryBytes >= MOST_OF * allBytes), place = nodes.find(({ onNs }) => onNs >= MOST_OF * allNs);
  const share = `${(remote * 100).toFixed(0)} % of what threads touch is in the memory of another node`;
  const bound = (node: number) => `numactl --cpunodebind=${node} --membind=${node} program args…`;
  if (home && place && home.node !== place.node) {
    const text = `${share}: it runs on node ${place.node}, and its ${mebibytes(allBytes)} are in node ${home.node}. Keep both in one:`;
    return [{ ...info(text), command: bound(home.node) }];
  }
  if (home) {
    const text = `${share}: it runs on ${nodes.filter(({ onNs }) => onNs > 0).length} nodes, and its ${
      mebibytes(allBytes)
    } are in node ${home.node}. Spread them (llama.cpp: --numa distribute), or keep its threads there (numactl --cpunodebind=${home.node}):`;
    return [{ ...info(text), command: "numactl --interleave=all program args…" }];
  }
  if (!place) return [];
  const text = `${share}: it runs on node ${place.node}, and its ${mebibytes(allBytes)} are in several. Keep both in one, if they fit:`;
  return [{ ...info(text), command: bound(place.node) }];
}

export function presentNuma({ nodes }: NumaResult): Table {
  return tableOf("Threads and memory by node", nodes, [
    [{ title: "node", unit: "count" }, (row) => row.node],
    [{ title: "on its processors", unit: "ns" }, (row) => row.onNs],
    [{ title: "in its memory", unit: "bytes" }, (row) => row.memoryBytes],
  ]);
}

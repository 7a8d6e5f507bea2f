import type { Note, View } from "../events/view.ts";
import { tableOf } from "./figures_table.ts";
import type { ExpertsResult, OperatorsResult } from "./operators_schema.ts";
import { info, warning } from "./quality.ts";

/** More would not be read on a terminal. */
const NAMED = 3;

/** A table of layers: which of their experts the tokens went to, how unevenly, and what these cost. */
export function presentExperts({ experts }: Pick<OperatorsResult, "experts">): View[] {
  if (!experts) return [];
  const { layers, routerNs, gatherNs } = experts;
  return [
    tableOf("Experts: how unevenly they are used", layers, [
      [{ title: "layer", unit: "text" }, (row) => row.layer ?? "none"],
      [{ title: "tokens", unit: "count" }, (row) => row.tokens],
      [{ title: "experts", unit: "count" }, (row) => row.experts],
      [{ title: "each uses", unit: "count" }, (row) => row.used],
      [{ title: "variation", unit: "count" }, (row) => Math.round(row.variation * 100) / 100],
      [{ title: "90 % go to", unit: "count" }, (row) => row.hot],
      [{ title: "most used", unit: "text" }, mostUsed],
      [{ title: "products", unit: "ns" }, (row) => row.productsNs],
      [{ title: "a choice", unit: "ns" }, (row) => made(row) > 0 ? row.productsNs / made(row) : null],
    ]),
    {
      type: "facts",
      title: "Mixture",
      facts: [
        { name: "choosing experts", value: routerNs, unit: "ns", note: "router: tensors ffn_moe_logits to ffn_moe_weights" },
        { name: "products of experts", value: layers.reduce((sum, { productsNs }) => sum + productsNs, 0), unit: "ns" },
        { name: "gathering", value: gatherNs, unit: "ns", note: "ffn_moe_weighted, ffn_moe_out" },
      ],
    },
    ...expertNotes(experts),
  ];
}

type Layer = ExpertsResult["layers"][number];

function choices({ counts }: Layer): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Also those that were not read. */
function made(row: Layer): number {
  return choices(row) + row.unread;
}

/** Numbers of experts, the most used first. */
function mostUsed({ counts }: Layer): string {
  return [...counts.keys()].filter((expert) => counts[expert]! > 0).sort((a, b) => counts[b]! - counts[a]!).slice(0, NAMED).join(", ");
}

function expertNotes({ layers }: ExpertsResult): Note[] {
  const unread = layers.reduce((sum, row) => sum + row.unread, 0);
  const chosen = layers.reduce((sum, row) => sum + choices(row), 0);
  return [
    info("What a choice costs is an estimate: the time of a layer's products, shared alike among the tokens and experts of its batch."),
    ...(unread > 0 ? [warning(`${unread} of ${unread + chosen} choices of experts could not be read: they are in no count.`)] : []),
  ];
}

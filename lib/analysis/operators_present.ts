import type { Facts, Note, Table, View } from "../events/view.ts";
import { BY_FUNCTIONS, withGraphs } from "../programs/detail.ts";
import { guessFacts, presentContexts, presentOperatorsOfContexts } from "./contexts_present.ts";
import { presentCounters } from "./counters_present.ts";
import { presentDemands } from "./demands_present.ts";
import { presentExperts } from "./experts_present.ts";
import { presentCriticalPath } from "./critical_path_present.ts";
import { type Figure, tableOf } from "./figures_table.ts";
import { BLAS } from "./offload.ts";
import { presentOffload } from "./offload_present.ts";
import type { OperatorsResult } from "./operators_schema.ts";
import { info, qualityNotes, turnsNotes, warning } from "./quality.ts";
import type { SamplesResult } from "./samples_schema.ts";
import { sumsTable } from "./sums_table.ts";
import { presentSystemCalls } from "./system_calls_present.ts";

/** Kinds of tensors, and functions, beyond these take little time. */
const MAX_ROWS = 20;
/** Fewer intervals do not carry a 99th percentile. */
const FEW_INTERVALS = 100;

/** Tokens first, then where their time went: by operator, by layer, by tensor. */
export function presentOperators(result: OperatorsResult): readonly View[] {
  const views: View[] = operatorsNotes(result);
  // Other engines than llama.cpp use ggml, too.
  if (callsOf(result) > 0 || result.graphs.count === 0) views.push(tokens(result));
  if (result.contexts.length > 1) views.push(presentContexts(result));
  if (result.time.decodeNs > 0 || Number(result.time.graphNs) > 0) views.push(time(result));
  if (result.offload) views.push(...presentOffload(result.offload, result));
  const kept = cache(result);
  if (kept) views.push(kept);
  // A row of what is left of the graphs alone says nothing.
  if (result.operators.some(({ calls }) => calls > 0)) {
    views.push(sumsTable("Operators", result.operators, [{ title: "operator", unit: "text" }, (row) => row.name]));
    views.push(...presentOperatorsOfContexts(result));
    views.push(...presentDemands(result), ...presentCounters(result), ...presentExperts(result));
    const layers = result.layers.filter((row) => row.layer !== null);
    if (layers.length > 1) views.push(sumsTable("Layers", result.layers, [{ title: "layer", unit: "text" }, layerName]));
    if (result.criticalPath) views.push(...presentCriticalPath(result.criticalPath));
    views.push(sumsTable("Tensors", result.tensors, [{ title: "tensor", unit: "text" }, (row) => row.name], MAX_ROWS));
  }
  if (result.workers.length > 1) views.push(workers(result), ...imbalance(result.graphs));
  if (result.samples && result.samples.count > 0) views.push(...samplesTables(result.samples));
  if (result.systemCalls) views.push(...presentSystemCalls(result.systemCalls));
  return views;
}

function layerName({ layer, stack }: OperatorsResult["layers"][number]): string | number {
  return layer === null ? "none" : stack === null ? layer : `${stack} ${layer}`;
}

function tokens({ tokens, rates, firstTokenNs, betweenTokens, offload }: OperatorsResult): Facts {
  const isElsewhere = offload?.devices.some(({ name, splits }) => name !== "CPU" && name !== BLAS && splits > 0);
  const inDecode = isElsewhere ? "in llama_decode, which returns while devices compute" : "in llama_decode";
  return {
    type: "facts",
    title: "Tokens",
    facts: [
      { name: "generated", value: tokens.decode, unit: "count", note: generatedIn(tokens) },
      ...guessFacts(tokens),
      { name: "prompt", value: tokens.prefill, unit: "count", note: callCount(tokens.prefillCalls) },
      { name: "generation", value: rates.generatedPerSecond, unit: "per-second", note: "wall time, sampling included" },
      { name: "decode", value: rates.decodePerSecond, unit: "per-second", note: inDecode },
      { name: "prefill", value: rates.prefillPerSecond, unit: "per-second", note: inDecode },
      { name: "time to first token", value: firstTokenNs, unit: "ns", note: "from the first llama_decode" },
      ...(betweenTokens
        ? [
          // A call brings several tokens where guesses are right.
          {
            name: tokens.guessed > 0 ? "time between calls" : "time between tokens",
            value: betweenTokens.meanNs,
            unit: "ns",
            note: `mean of ${betweenTokens.count}`,
          } as const,
          { name: "  p50", value: betweenTokens.p50Ns, unit: "ns" } as const,
          { name: "  p90", value: betweenTokens.p90Ns, unit: "ns" } as const,
          { name: "  p99", value: betweenTokens.p99Ns, unit: "ns" } as const,
          { name: "  max", value: betweenTokens.maxNs, unit: "ns" } as const,
        ]
        : []),
    ],
  };
}

function generatedIn({ decodeCalls, besidePrompts }: OperatorsResult["tokens"]): string {
  return `${callCount(decodeCalls)}${besidePrompts > 0 ? `; ${besidePrompts} of them in calls with a prompt` : ""}`;
}

function callCount(calls: number): string {
  return `${calls} ${calls === 1 ? "call" : "calls"}`;
}

/** Null where nothing of it was seen. */
function cache({ cache: { cells, attendedCells, longestSequence, changes } }: OperatorsResult): Facts | null {
  if (cells === null && attendedCells === null && longestSequence === null && changes.length === 0) return null;
  return {
    type: "facts",
    title: "Cache of keys and values",
    facts: [
      { name: "longest sequence", value: longestSequence, unit: "count", note: "positions" },
      ...(cells === null ? [] : [{ name: "cells", value: cells, unit: "count", note: "asked for, for all sequences" } as const]),
      ...(attendedCells === null
        ? []
        : [{ name: "  looked at", value: attendedCells, unit: "count", note: "those in use, in the engine's steps" } as const]),
      ...changes.map(({ name, calls }) => ({ name, value: calls, unit: "count", note: calls === 1 ? "call" : "calls" } as const)),
    ],
  };
}

function callsOf({ tokens }: OperatorsResult): number {
  return tokens.prefillCalls + tokens.decodeCalls;
}

function time(result: OperatorsResult): Facts {
  const { detail, time, tokens, graphs, libraryCalls } = result;
  const held = time.stoppedNs > 0 ? [{ name: "held by llmprof", value: time.stoppedNs, unit: "ns", note: "in none of the others" } as const] : [];
  if (callsOf(result) === 0) {
    return { type: "facts", title: "Time", facts: [{ name: "in graphs", value: time.graphNs, unit: "ns", note: `${graphs.count} graphs` }, ...held] };
  }
  const { graphNs, graphsInDecodeNs, devicesInDecodeNs, outsideGraphNs } = time;
  const otherGraphs = Number(graphNs) - Number(graphsInDecodeNs);
  // A call that failed or was cut off is in no time, and its graphs are; sums have that of a graph whose call had not ended.
  const isCut = tokens.openCalls + tokens.failedCalls > 0 || (detail === "sum" && graphs.openCount > 0);
  const outside = isCut ? "graphs outside a whole llama_decode" : "graphs outside llama_decode";
  return {
    type: "facts",
    title: "Time",
    facts: [
      { name: "llama_decode", value: time.decodeNs, unit: "ns" },
      ...(graphNs === null ? [] : [
        { name: "  in graphs", value: graphsInDecodeNs, unit: "ns", note: `${graphs.count} graphs` } as const,
        ...(devicesInDecodeNs > 0 ? [{ name: "  other devices", value: devicesInDecodeNs, unit: "ns" } as const] : []),
        { name: "  outside the graph", value: outsideGraphNs, unit: "ns" } as const,
      ]),
      ...(otherGraphs > 0 ? [{ name: outside, value: otherGraphs, unit: "ns" } as const] : []),
      { name: "between decodes", value: time.betweenDecodesNs, unit: "ns" },
      {
        name: "  unexplained",
        value: time.betweenUnknownNs,
        unit: "ns",
        note: libraryCalls.length > 0 ? "in no call of libllama that is seen" : "not sampling; --between looks at more",
      },
      // Engines may sample by themselves, and older ones ask functions that are not watched.
      time.samplingCalls > 0
        ? { name: "sampling", value: time.samplingNs, unit: "ns", note: callCount(time.samplingCalls) }
        : { name: "sampling", value: null, unit: "ns", note: "no call of llama_sampler_sample was seen" },
      ...libraryCalls.map(({ name, calls, ns }) => ({ name, value: ns, unit: "ns", note: callCount(calls) } as const)),
      ...held,
    ],
  };
}

function workers({ workers, detail }: OperatorsResult): Table {
  // Where threads were watched as well.
  const isWatched = workers.some(({ preempted }) => preempted !== null), tellsWaits = detail === "wait";
  const title = tellsWaits
    ? "Workers, and how long they waited for each other"
    : "Workers (their wait for each other included, which --detail wait tells apart)";
  return tableOf(title, workers, [
    [{ title: "worker", unit: "count" }, (row) => row.worker],
    [{ title: "operators", unit: "count" }, (row) => row.calls],
    !tellsWaits && [{ title: "busy", unit: "ns" }, (row) => row.busyNs],
    tellsWaits && [{ title: "working", unit: "ns" }, (row) => row.busyNs - Number(row.waitNs)],
    tellsWaits && [{ title: "waiting", unit: "ns" }, (row) => Number(row.waitNs)],
    tellsWaits && [{ title: "waiting", unit: "ratio" }, (row) => row.busyNs > 0 ? Number(row.waitNs) / row.busyNs : null],
    isWatched && [{ title: "preempted", unit: "ns" }, (row) => row.preempted?.ns ?? null],
    isWatched && [{ title: "times", unit: "count" }, (row) => row.preempted?.times ?? null],
  ]);
}

function imbalance({ imbalance }: OperatorsResult["graphs"]): Facts[] {
  if (!imbalance) return [];
  const facts = [
    { name: "of a graph", value: imbalance.mean, unit: "ratio", note: "how much longer the slowest works than the mean, from barrier to barrier" },
    { name: "  at most", value: imbalance.most, unit: "ratio" },
  ] as const;
  return [{ type: "facts", title: "Imbalance of workers", facts }];
}

function samplesTables({ perSecond, count, works, functions }: SamplesResult): Table[] {
  const ns = (samples: number) => samples / perSecond * 1e9;
  const shares: readonly Figure<SamplesResult["works"][number]>[] = [
    [{ title: "samples", unit: "count" }, (row) => row.samples],
    [{ title: "CPU time", unit: "ns" }, (row) => ns(row.samples)],
    [{ title: "share", unit: "ratio" }, (row) => row.share],
    [{ title: "±", unit: "ratio" }, (row) => row.error],
  ];
  return [
    tableOf(`CPU time, by ${count} samples of a timer`, works, [
      [{ title: "work", unit: "text" }, (row) => row.name],
      ...shares,
      [{ title: "prefill", unit: "ns" }, (row) => ns(row.prefill)],
      [{ title: "decode", unit: "ns" }, (row) => ns(row.decode)],
      [{ title: "elsewhere", unit: "ns" }, (row) => ns(row.other)],
    ]),
    tableOf("Functions", functions, [
      [{ title: "function", unit: "text" }, (row) => row.name],
      ...shares,
      [{ title: "library", unit: "text" }, (row) => row.library],
    ], MAX_ROWS),
  ];
}

const NOT_LOOKED_AT = { graph: "operators", sample: "graphs and single operators", token: "graphs and operators" } as const;

/** What the figures would mislead about. */
function operatorsNotes(result: OperatorsResult): Note[] {
  const { detail, windows, tokens, graphs, betweenTokens, firstTokenNs } = result;
  const notes = qualityNotes(result.quality);
  const seesGraphs = withGraphs.includes(detail);
  const calls = callsOf(result);
  const ops = result.operators.reduce((sum, row) => sum + row.calls, 0);
  notes.push(...turnsNotes(windows));
  if (detail in NOT_LOOKED_AT) {
    notes.push(info(`Seen at --detail ${detail}: ${NOT_LOOKED_AT[detail as keyof typeof NOT_LOOKED_AT]} were not looked at.`));
  }
  if (detail === "sum") {
    notes.push(info("Seen at --detail sum: operators were added up; the trace has the first graph of each kind, and one a second."));
  }
  const openOps = result.operators.reduce((sum, row) => sum + row.openCalls, 0);
  if (calls === 0 && graphs.count === 0 && ops === 0) {
    const what = seesGraphs ? "No llama_decode and no ggml graph" : "No llama_decode";
    return [...notes, warning(`${what} was seen: the process did not infer while it was watched.`)];
  }
  if (calls === 0) notes.push(warning("No llama_decode was seen: there are no tokens, and operators are not split into prefill and decode."));
  else if (graphs.count === 0 && ops === 0 && seesGraphs && !result.offload) {
    const { decodeNs, outsideGraphNs } = result.time;
    // Graphs are looked at in some calls alone, and none of these came.
    const isWaiting = decodeNs > 0 && outsideGraphNs === 0;
    notes.push(
      isWaiting
        ? info("No graph was seen: with --slower-than they are looked at once a token was slow, and for a while.")
        : warning("No CPU graph was seen inside llama_decode: the ggml library hides its functions, or another device computes."),
    );
  }
  if (graphs.count === 0 && ops > 0) notes.push(warning("ggml_graph_compute was not seen: shares are of the operators' own sum."));
  if (graphs.withoutOperators > 0 && graphs.withoutOperators === graphs.count) {
    notes.push(warning(`No graph came with operators: tokens and graphs are told alone; ${BY_FUNCTIONS}.`));
  } else if (graphs.withoutOperators > 0) {
    notes.push(warning(`${graphs.withoutOperators} of ${graphs.count} graphs came without operators: their time is in "graph rest".`));
  }
  if (tokens.failedCalls > 0) notes.push(warning(`llama_decode failed ${tokens.failedCalls} times: these calls are in no time and no rate.`));
  const open = tokens.openCalls + graphs.openCount + openOps;
  if (open > 0) notes.push(info(`${open} slices had not ended when counting did: they are counted, and left out of times and means.`));
  if (result.unattachedCalls > 0) {
    notes.push(info(`${result.unattachedCalls} operator calls belong to a graph that began before the window: left out.`));
  }
  if (result.contexts.length > 1 && ops > 0) notes.push(info("Layers and tensors are those of all contexts together."));
  if (calls > 0 && firstTokenNs === null) {
    notes.push(info("No time to first token: no prompt was evaluated from its beginning, or nothing came of it."));
  }
  if (betweenTokens && betweenTokens.count < FEW_INTERVALS) {
    notes.push(info(`Only ${betweenTokens.count} intervals between tokens: p90 and p99 say little.`));
  }
  if (result.processes > 1) notes.push(info(`${result.processes} processes computed: the figures are their sums.`));
  return notes;
}

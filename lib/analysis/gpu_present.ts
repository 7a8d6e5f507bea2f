import { quantity } from "../events/quantity.ts";
import { counted } from "../events/text.ts";
import type { Facts, Note, View } from "../events/view.ts";
import { gapsByProcess, gapsFacts, gapsNotes } from "./gpu_gaps_present.ts";
import type { GpuResult } from "./gpu_schema.ts";
import { collectives, copies, devices, errors, executed, files, functions, held, kernels, memory, unfinished } from "./gpu_tables.ts";
import { info, qualityNotes, turnsNotes, warning } from "./quality.ts";
import { presentSystemCalls } from "./system_calls_present.ts";

/** What is asked first, then what is held, moved and waited for; at last who else is there. */
export function presentGpu(result: GpuResult): readonly View[] {
  const views: View[] = [...notes(result), totals(result), ...contention(result)];
  if (isHanging(result)) views.push(unfinished(result));
  views.push(...gapsByProcess(result.gaps));
  if (result.functions.length > 0) views.push(functions(result));
  if (result.memory.length > 0) views.push(memory(result));
  if (result.held.length > 0) views.push(held(result));
  if (result.copies.length > 0) views.push(copies(result));
  if (result.collectives.length > 0) views.push(collectives(result));
  if (result.kernels.length > 0) views.push(kernels(result));
  if (result.executed) views.push(executed(result.executed));
  if (result.errors.length > 0) views.push(errors(result));
  if (result.devices.length > 0) views.push(devices(result));
  if (result.files.length > 0) views.push(files(result));
  if (result.systemCalls) views.push(...presentSystemCalls(result.systemCalls));
  return views;
}

/** A call that lasts so long is told of though it has not returned. */
const LONG_NS = 1e9;

/** Where any is long, all are shown: a run that ends as usual ends in the middle of some call, too. */
function isHanging({ unfinished }: GpuResult): boolean {
  return unfinished.some(({ longestNs }) => longestNs >= LONG_NS);
}

const BLIND =
  "When kernels run on the GPU, and for how long, is not to be seen from the CPU: parcagpu in the process tells it, and nsys profile or rocprof show it.";

const SAMPLED =
  "parcagpu chooses of which kernels it tells: of those launched by 100 calls in a second of a thread, unless its PARCAGPU_RATE_LIMIT says more.";

function notes(result: GpuResult): Note[] {
  const { quality, windows, executed, functions, files, totals, held, unfinished } = result;
  const notes = [...qualityNotes(quality), ...turnsNotes(windows)];
  if (quality.unknownCalls > 0) {
    notes.push(
      warning(`${quality.unknownCalls} calls are of a process that nobody could look at when it mapped the library: what they are is not known.`),
    );
  }
  if (isHanging(result)) {
    const [{ name, longestNs, tid }] = unfinished as [GpuResult["unfinished"][number]];
    notes.push(info(`${name} had not returned after ${quantity(longestNs, "ns")} (thread ${tid}): what it waits for is not done, or hangs.`));
  }
  if (functions.length === 0 && unfinished.length === 0 && files.every(({ users }) => !users.some(({ isTarget }) => isTarget))) {
    notes.push(info("The target asked nothing of a GPU: it has called no CUDA, HIP, Vulkan, NCCL or Level Zero, and used no GPU's device file."));
  }
  notes.push(...lostNotes(result), ...mends(result));
  if (totals.unknownGraphs > 0) {
    const which = totals.unknownGraphs === totals.graphLaunches ? "Graphs" : `${totals.unknownGraphs} of the graphs`;
    const how = "had been made before, node by node, or around one of these";
    notes.push(info(`${which} that were launched ${how}: their kernels, copies and collective calls are in no figure.`));
  }
  if (executed) notes.push(info(SAMPLED));
  if (!executed && totals.launches + totals.graphLaunches + totals.submits > 0) notes.push(info(BLIND));
  notes.push(...gapsNotes(result.gaps));
  notes.push(...memoryNotes(result));
  const leaked = held.filter(({ exited, memory }) => exited && memory !== "registered");
  if (leaked.length > 0) {
    const blocks = leaked.reduce((all, { blocks }) => all + blocks, 0);
    const how = leaked.some(({ frames }) => frames !== null) ? "" : " --stacks says who asked for them.";
    notes.push(info(`${counted(blocks, "block")} ${blocks === 1 ? "was" : "were"} never freed before their process, or its context, ended.${how}`));
  }
  return notes;
}

/** What memory is not in the figures. */
function memoryNotes({ memory, memoryBefore: { processes, frees } }: GpuResult): Note[] {
  const said = [
    ...processes > 0 && memory.length > 0
      ? [`What ${processes === 1 ? "a process" : `${processes} processes`} held before llmprof came is in no figure of memory, nor in its peak.`]
      : [],
    ...frees > 0 ? [`${counted(frees, "time")} memory was let go of which nobody saw that it was asked for.`] : [],
  ];
  return said.length > 0 ? [info(said.join(" "))] : [];
}

/** Who can ask nothing more of a GPU, and since which call. */
function lostNotes({ lost: [first, ...others] }: GpuResult): Note[] {
  if (!first) return [];
  const { pid, tid, failure, atNs, echoes } = first;
  const said = [
    `After ${
      quantity(atNs, "ns")
    } ${first.function} (thread ${tid} of process ${pid}) failed with ${failure}: what was launched before had gone wrong.`,
    ...echoes > 0 ? [`Of the calls behind it in that process ${echoes} failed with the same: they are its echo.`] : [],
    ...others.length > 0 ? [`It was the first of ${others.length + 1} processes that lost their GPU.`] : [],
  ];
  return [info(said.join(" "))];
}

/** What mends a machine on which nothing can be asked of a GPU. */
const MENDS: Readonly<Record<string, string>> = {
  "system not ready (802)": "GPUs that NVSwitches connect are ready when their fabric manager runs: sudo systemctl start nvidia-fabricmanager.",
  "system driver mismatch (803)": "libcuda is of another version than the driver in the kernel: after an update of the driver, restart the machine.",
};

function mends({ errors }: GpuResult): Note[] {
  return [...new Set(errors.map(({ failure }) => MENDS[failure]))].filter((mend) => mend !== undefined).map(info);
}

/** Whose functions are left out that only ask. */
const ASKED = new Set(["cuda", "cudart", "hip"]);

function totals({ windows, functions, totals, gaps, perToken }: GpuResult): Facts {
  const isAll = functions.every(({ family }) => !ASKED.has(family)) || functions.some(({ kind }) => kind === "state");
  const seconds = windows.ns / 1e9, rate = (all: number) => seconds > 0 ? `${(all / seconds).toFixed(0)} a second` : "";
  const { launches, captured, capturedGraphs, graphLaunches, graphKernels, unknownGraphs, submits, waitedCopies, polls } = totals;
  const known = (count: string) => unknownGraphs > 0 ? `at least ${count}` : count;
  const ofThreads = (ns: number) => ns > windows.ns ? ["threads added"] : [];
  const times = (count: number, ns: number) => [counted(count, "time"), ...ofThreads(ns)].join(", ");
  const facts: Facts["facts"] = [
    { name: "watched", value: windows.ns, unit: "ns" },
    {
      name: "calls",
      value: totals.calls,
      unit: "count",
      note: [rate(totals.calls), ...isAll ? [] : ["without those that only ask how things stand (--every-call)"]].filter(Boolean).join(", "),
    },
    { name: "in calls", value: totals.totalNs, unit: "ns", note: ofThreads(totals.totalNs).join() },
    { name: "waiting for the GPU", value: totals.syncNs, unit: "ns", note: times(totals.syncs, totals.syncNs) },
    ...waitedCopies > 0
      ? [{ name: "waiting for it in copies", value: totals.waitedCopiesNs, unit: "ns" as const, note: times(waitedCopies, totals.waitedCopiesNs) }]
      : [],
    ...polls > 0 ? [{ name: "asking whether it is done", value: totals.pollNs, unit: "ns" as const, note: times(polls, totals.pollNs) }] : [],
    {
      name: "launches",
      value: launches,
      unit: "count",
      note: [rate(launches), captured > 0 ? `${captured} more into graphs` : ""].filter(Boolean).join(", "),
    },
    ...graphLaunches > 0
      ? [{
        name: "graphs launched",
        value: graphLaunches,
        unit: "count" as const,
        note: [
          rate(graphLaunches),
          graphKernels > 0 ? `they ran ${known(`${graphKernels} kernels`)}` : "",
          capturedGraphs > 0 ? `${capturedGraphs} more into graphs` : "",
        ].filter(Boolean).join(", "),
      }]
      : [],
    ...submits > 0 ? [{ name: "submits", value: submits, unit: "count" as const, note: rate(submits) }] : [],
    ...gapsFacts(gaps),
    ...perToken
      ? [
        { name: "launches a token", value: perToken.launches, unit: "count" as const, note: known(`${perToken.kernels.toFixed(1)} kernels`) },
        { name: "copied a token", value: perToken.copiedBytes, unit: "bytes" as const, note: known(`${perToken.copies.toFixed(1)} copies`) },
        { name: "allocations a token", value: perToken.allocations, unit: "count" as const },
        { name: "in calls a token", value: perToken.callsNs, unit: "ns" as const },
      ]
      : [],
  ];
  return { type: "facts", title: "GPU, from the CPU's side", facts };
}

/** Who has its device open already gives it work without asking. */
const UNSEEN = "What runs on a GPU at the same time is not seen.";

function contention({ contention, files }: GpuResult): Note[] {
  const uses = files.some(({ users }) => users.some(({ isTarget }) => isTarget));
  if (!contention) return uses ? [info(`Nobody else asked anything of the device files of a GPU that the target uses. ${UNSEEN}`)] : [];
  const { others, slower, waits, waitedNs, sharedNs } = contention;
  const who = others.slice(0, 3).map(({ name, pid }) => `${name} (${pid})`).join(", ") +
    (others.length > 3 ? ` and ${others.length - 3} others` : "");
  const how = `${who} used the device files of its GPU too, in ${quantity(sharedNs, "ns")}`;
  if (waits) {
    return [
      info(
        `${how}: what the target asked of the driver took ${slower!.toFixed(1)} times as long then, ${
          quantity(waitedNs, "ns")
        } in all. It waits for them.`,
      ),
    ];
  }
  return [
    info(
      slower === null
        ? `${how}: too little was asked to tell whether the target waited for them.`
        : `${how}, and the target did not wait for them in the driver. ${UNSEEN}`,
    ),
  ];
}

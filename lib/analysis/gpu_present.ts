import type { Facts, Note, Table, View } from "../events/view.ts";
import { errnoName } from "./errno.ts";
import { firstRows } from "./first_rows.ts";
import type { GpuResult } from "./gpu_schema.ts";
import { info, qualityNotes, turnsNotes, warning } from "./quality.ts";

const MAX_FUNCTIONS = 20, MAX_KERNELS = 12, MAX_HELD = 10, MAX_ERRORS = 8, MAX_FRAMES = 4, MAX_USERS = 12;

/** What is asked first, then what is held, moved and waited for; at last who else is there. */
export function presentGpu(result: GpuResult): readonly View[] {
  const views: View[] = [...notes(result), totals(result), ...contention(result)];
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
  return views;
}

const BLIND =
  "When kernels run on the GPU, and for how long, is not to be seen from the CPU: parcagpu in the process tells it, and nsys profile or rocprof show it.";

function notes({ quality, windows, executed, functions, files, totals, gaps, held }: GpuResult): Note[] {
  const notes = [...qualityNotes(quality), ...turnsNotes(windows)];
  if (quality.unknownCalls > 0) {
    notes.push(
      warning(`${quality.unknownCalls} calls are of a process that nobody could look at when it mapped the library: what they are is not known.`),
    );
  }
  if (functions.length === 0 && files.every(({ users }) => !users.some(({ isTarget }) => isTarget))) {
    notes.push(info("The target asked nothing of a GPU: it has called no CUDA, HIP, Vulkan, NCCL or Level Zero, and used no GPU's device file."));
  }
  if (!executed && totals.launches + totals.graphLaunches + totals.submits > 0) notes.push(info(BLIND));
  if (gaps.ns > windows.ns / 20) {
    const share = (100 * gaps.ns / windows.ns).toFixed(0);
    notes.push(info(
      `The GPU had nothing to do for ${share} % of the time, ${gaps.count} times, because the CPU had given it nothing: CUDA graphs, larger batches, or fewer waits (synchronize) close such gaps.`,
    ));
  }
  const leaked = held.filter(({ exited, memory }) => exited && memory !== "registered");
  if (leaked.length > 0) {
    const blocks = leaked.reduce((all, { blocks }) => all + blocks, 0);
    const how = leaked.some(({ frames }) => frames !== null) ? "" : " --stacks says who asked for them.";
    notes.push(info(`${blocks} blocks were never freed before their process ended.${how}`));
  }
  return notes;
}

function totals({ windows, totals, gaps, perToken }: GpuResult): Facts {
  const seconds = windows.ns / 1e9, rate = (all: number) => seconds > 0 ? `${(all / seconds).toFixed(0)} a second` : "";
  const { launches, captured, graphLaunches, submits } = totals;
  const facts: Facts["facts"] = [
    { name: "watched", value: windows.ns, unit: "ns" },
    { name: "calls", value: totals.calls, unit: "count", note: rate(totals.calls) },
    { name: "in calls", value: totals.totalNs, unit: "ns" },
    { name: "waiting for the GPU", value: totals.syncNs, unit: "ns", note: `${totals.syncs} times` },
    {
      name: "launches",
      value: launches,
      unit: "count",
      note: [rate(launches), captured > 0 ? `${captured} more into graphs` : ""].filter(Boolean).join(", "),
    },
    ...graphLaunches > 0 ? [{ name: "graphs launched", value: graphLaunches, unit: "count" as const, note: rate(graphLaunches) }] : [],
    ...submits > 0 ? [{ name: "submits", value: submits, unit: "count" as const, note: rate(submits) }] : [],
    { name: "nothing to do", value: gaps.ns, unit: "ns", note: gaps.count > 0 ? `${gaps.count} gaps` : "" },
    ...perToken
      ? [
        { name: "launches a token", value: perToken.launches, unit: "count" as const },
        { name: "copied a token", value: perToken.copiedBytes, unit: "bytes" as const, note: `${perToken.copies.toFixed(1)} copies` },
        { name: "allocations a token", value: perToken.allocations, unit: "count" as const },
        { name: "in calls a token", value: perToken.callsNs, unit: "ns" as const },
      ]
      : [],
  ];
  return { type: "facts", title: "GPU, from the CPU's side", facts };
}

function contention({ contention, files }: GpuResult): Note[] {
  if (!contention) return files.length > 0 ? [info("Nobody else asked anything of the GPU's device files.")] : [];
  const { others, slower, waits, waitedNs, sharedNs } = contention;
  const who = others.slice(0, 3).map(({ name, pid }) => `${name} (${pid})`).join(", ") +
    (others.length > 3 ? ` and ${others.length - 3} others` : "");
  const how = `${who} used the GPU's device files too, in ${(sharedNs / 1e9).toFixed(2)} s`;
  if (waits) {
    return [
      info(
        `${how}: what the target asked of the driver took ${slower!.toFixed(1)} times as long then, ${
          (waitedNs / 1e9).toFixed(2)
        } s in all. It waits for them.`,
      ),
    ];
  }
  return [
    info(
      slower === null ? `${how}: too little was asked to tell whether the target waited for them.` : `${how}, and the target did not wait for them.`,
    ),
  ];
}

function functions({ functions }: GpuResult): Table {
  const { title, shown } = firstRows("Calls", functions, MAX_FUNCTIONS);
  return {
    type: "table",
    title,
    columns: [
      { title: "function", unit: "text" },
      { title: "of", unit: "text" },
      { title: "calls", unit: "count" },
      { title: "total", unit: "ns" },
      { title: "mean", unit: "ns" },
      { title: "p99", unit: "ns" },
      { title: "max", unit: "ns" },
      { title: "bytes", unit: "bytes" },
      { title: "failed", unit: "count" },
    ],
    rows: shown.map(({ name, family, calls, totalNs, meanNs, p99Ns, maxNs, bytes, failed }) => [
      name,
      FAMILIES[family] ?? family,
      calls,
      totalNs,
      meanNs,
      p99Ns,
      maxNs,
      bytes > 0 ? bytes : null,
      failed,
    ]),
  };
}

const FAMILIES: Readonly<Record<string, string>> = {
  cuda: "CUDA driver",
  cudart: "CUDA runtime",
  nccl: "NCCL",
  hip: "HIP",
  vulkan: "Vulkan",
  tensorrt: "TensorRT",
  levelzero: "Level Zero",
};

function placeOf(device: number | null): string {
  return device === null ? "host" : `GPU ${device}`;
}

function memory({ memory }: GpuResult): Table {
  return {
    type: "table",
    title: "Memory",
    columns: [
      { title: "of", unit: "text" },
      { title: "kind", unit: "text" },
      { title: "peak", unit: "bytes" },
      { title: "allocations", unit: "count" },
      { title: "asked for", unit: "bytes" },
      { title: "frees", unit: "count" },
      { title: "size p50", unit: "bytes" },
      { title: "largest", unit: "bytes" },
      { title: "held p50", unit: "ns" },
    ],
    rows: memory.map((row) => [
      placeOf(row.device),
      row.memory,
      row.peakBytes,
      row.allocations,
      row.allocatedBytes,
      row.frees,
      row.sizeP50,
      row.sizeMax,
      row.heldP50Ns,
    ]),
  };
}

function held({ held }: GpuResult): Table {
  const { title, shown } = firstRows("Held to the end", held, MAX_HELD);
  const hasStacks = held.some(({ frames }) => frames !== null);
  return {
    type: "table",
    title,
    columns: [
      { title: "of", unit: "text" },
      { title: "kind", unit: "text" },
      { title: "blocks", unit: "count" },
      { title: "bytes", unit: "bytes" },
      { title: "for", unit: "ns" },
      { title: "", unit: "text" },
      ...hasStacks ? [{ title: "asked for in, called by", unit: "text" as const }] : [],
    ],
    rows: shown.map(({ device, memory, blocks, bytes, longestNs, exited, frames }) => [
      placeOf(device),
      memory,
      blocks,
      bytes,
      longestNs,
      exited ? "never freed" : "at the end of counting",
      ...hasStacks ? [frames === null ? null : frames.slice(0, MAX_FRAMES).join(" ← ") + (frames.length > MAX_FRAMES ? " ← …" : "")] : [],
    ]),
  };
}

function copies({ copies }: GpuResult): Table {
  return {
    type: "table",
    title: "Copies, with the time that the CPU was in the call",
    columns: [
      { title: "from, to", unit: "text" },
      { title: "copies", unit: "count" },
      { title: "bytes", unit: "bytes" },
      { title: "in calls", unit: "ns" },
      { title: "bytes of a call's time", unit: "bytes-per-second" },
    ],
    rows: copies.map(({ direction, copies, bytes, ns }) => [direction, copies, bytes, ns, ns > 0 ? bytes / ns * 1e9 : null]),
  };
}

function collectives({ collectives }: GpuResult): Table {
  return {
    type: "table",
    title: "Collective calls",
    columns: [{ title: "call", unit: "text" }, { title: "calls", unit: "count" }, { title: "bytes", unit: "bytes" }, {
      title: "in calls",
      unit: "ns",
    }],
    rows: collectives.map(({ name, calls, bytes, ns }) => [name, calls, bytes, ns]),
  };
}

function kernels({ kernels }: GpuResult): Table {
  const { title, shown } = firstRows("Kernels launched", kernels, MAX_KERNELS);
  return {
    type: "table",
    title,
    columns: [{ title: "kernel", unit: "text" }, { title: "launches", unit: "count" }, { title: "into graphs", unit: "count" }],
    rows: shown.map(({ name, launches, captured }) => [name, launches, captured]),
  };
}

function executed(kernels: NonNullable<GpuResult["executed"]>): Table {
  const { title, shown } = firstRows("Kernels on the GPU, as parcagpu tells", kernels, MAX_KERNELS);
  return {
    type: "table",
    title,
    columns: [
      { title: "kernel", unit: "text" },
      { title: "runs", unit: "count" },
      { title: "total", unit: "ns" },
      { title: "mean", unit: "ns" },
      { title: "max", unit: "ns" },
    ],
    rows: shown.map(({ name, runs, totalNs, meanNs, maxNs }) => [name, runs, totalNs, meanNs, maxNs]),
  };
}

function errors({ errors }: GpuResult): Table {
  const { title, shown } = firstRows("Calls that failed", errors, MAX_ERRORS);
  return {
    type: "table",
    title,
    columns: [{ title: "function", unit: "text" }, { title: "why", unit: "text" }, { title: "times", unit: "count" }],
    rows: shown.map(({ function: name, failure, times }) => [name, failure, times]),
  };
}

function devices({ devices }: GpuResult): Table {
  const text = (value: number | null, unit: string) => value === null ? null : `${value.toFixed(0)} ${unit}`;
  return {
    type: "table",
    title: "What the GPUs say of themselves, on average",
    columns: [
      { title: "GPU", unit: "text" },
      { title: "busy", unit: "text" },
      { title: "its memory", unit: "text" },
      { title: "memory used, at most", unit: "bytes" },
      { title: "clock", unit: "text" },
      { title: "power", unit: "text" },
      { title: "temperature", unit: "text" },
      { title: "slowed down by", unit: "text" },
    ],
    rows: devices.map(({ gpu, readings, throttled, ...mean }) => [
      String(gpu),
      text(mean.busyPercent, "%"),
      text(mean.memoryBusyPercent, "%"),
      mean.memoryUsedBytes,
      text(mean.clockMhz, "MHz"),
      text(mean.powerWatts, "W"),
      text(mean.temperatureCelsius, "°C"),
      throttled.length === 0
        ? null
        : throttled.map(({ reason, readings: times }) => `${reason} (${(100 * times / readings).toFixed(0)} %)`).join(", "),
    ]),
  };
}

function files({ files }: GpuResult): Table {
  const users = files.flatMap(({ device, users, failures }) => users.map((user) => ({ device, failures, ...user })));
  const { title, shown } = firstRows("Device files, and who used them", users, MAX_USERS);
  return {
    type: "table",
    title,
    columns: [
      { title: "device", unit: "text" },
      { title: "process", unit: "text" },
      { title: "opens", unit: "count" },
      { title: "failed", unit: "text" },
      { title: "ioctls", unit: "count" },
      { title: "in them", unit: "ns" },
      { title: "maps", unit: "count" },
      { title: "closes", unit: "count" },
    ],
    rows: shown.map(({ device, failures, pid, name, isTarget, opens, failedOpens, ioctls, ioctlNs, maps, closes }) => [
      device,
      `${name} (${pid})${isTarget ? ", the target" : ""}`,
      opens,
      failedOpens === 0
        ? null
        : `${failedOpens}: ${failures.filter(({ pids }) => pids.includes(pid)).map(({ errno }) => errnoName(errno)).join(", ")}`,
      ioctls,
      ioctlNs,
      maps,
      closes,
    ]),
  };
}

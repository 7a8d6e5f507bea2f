import type { Table } from "../events/view.ts";
import { errnoName } from "./errno.ts";
import { firstRows } from "./first_rows.ts";
import { firstFrames, fromWithout } from "./frames.ts";
import type { GpuResult } from "./gpu_schema.ts";

const MAX_FUNCTIONS = 20, MAX_KERNELS = 12, MAX_HELD = 10, MAX_ERRORS = 8, MAX_USERS = 12;

export function functions({ functions }: GpuResult): Table {
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

export function memory({ memory }: GpuResult): Table {
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

export function held({ held }: GpuResult): Table {
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
      ...hasStacks ? [{ title: "asked for in, called by", unit: "text" as const, below: true as const }] : [],
    ],
    rows: shown.map(({ device, memory, blocks, bytes, longestNs, exited, frames }) => [
      placeOf(device),
      memory,
      blocks,
      bytes,
      longestNs,
      exited ? "never freed" : "at the end of counting",
      ...hasStacks ? [frames === null ? null : firstFrames(fromWithout(frames))] : [],
    ]),
  };
}

export function copies({ copies }: GpuResult): Table {
  return {
    type: "table",
    title: "Copies, with the time that the CPU was in the call",
    columns: [
      { title: "from, to", unit: "text" },
      { title: "copies", unit: "count" },
      { title: "bytes", unit: "bytes" },
      { title: "in calls", unit: "ns" },
      { title: "rate, where a call waits for its copy", unit: "bytes-per-second" },
    ],
    rows: copies.map(({ direction, copies, bytes, ns, waitedBytes, waitedNs }) => [
      direction,
      copies,
      bytes,
      ns,
      waitedNs > 0 ? waitedBytes / waitedNs * 1e9 : null,
    ]),
  };
}

export function collectives({ collectives }: GpuResult): Table {
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

export function kernels({ kernels }: GpuResult): Table {
  const { title, shown } = firstRows("Kernels launched", kernels, MAX_KERNELS);
  return {
    type: "table",
    title,
    columns: [{ title: "kernel", unit: "text" }, { title: "launches", unit: "count" }, { title: "into graphs", unit: "count" }, {
      title: "run by these",
      unit: "count",
    }],
    rows: shown.map(({ name, launches, captured, inGraphs }) => [name, launches, captured, inGraphs]),
  };
}

export function executed(kernels: NonNullable<GpuResult["executed"]>): Table {
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

export function unfinished({ unfinished }: GpuResult): Table {
  return {
    type: "table",
    title: "Calls that had not returned at the end",
    columns: [
      { title: "function", unit: "text" },
      { title: "of", unit: "text" },
      { title: "calls", unit: "count" },
      { title: "longest", unit: "ns" },
      { title: "in", unit: "text" },
    ],
    rows: unfinished.map(({ name, family, calls, longestNs, pid, tid }) => [
      name,
      FAMILIES[family] ?? family,
      calls,
      longestNs,
      tid === pid ? `process ${pid}` : `thread ${tid} of process ${pid}`,
    ]),
  };
}

export function errors({ errors }: GpuResult): Table {
  const { title, shown } = firstRows("Calls that failed", errors, MAX_ERRORS);
  return {
    type: "table",
    title,
    columns: [{ title: "function", unit: "text" }, { title: "why", unit: "text" }, { title: "times", unit: "count" }],
    rows: shown.map(({ function: name, failure, times }) => [name, failure, times]),
  };
}

export function devices({ devices }: GpuResult): Table {
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

export function files({ files }: GpuResult): Table {
  const users = files.flatMap(({ device, users, failures }) => users.map((user) => ({ device, failures, ...user })))
    .sort((a, b) => b.ioctlNs - a.ioctlNs || b.ioctls - a.ioctls || b.opens + b.failedOpens - (a.opens + a.failedOpens));
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

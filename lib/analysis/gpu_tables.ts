import type { Table } from "../events/view.ts";
import { errnoName } from "./errno.ts";
import { type Figure, tableOf } from "./figures_table.ts";
import { firstFrames, fromWithout } from "./frames.ts";
import type { GpuResult } from "./gpu_schema.ts";

const MAX_FUNCTIONS = 20, MAX_KERNELS = 12, MAX_MEMORY = 16, MAX_HELD = 10, MAX_ERRORS = 8, MAX_USERS = 12;

export function functions({ functions }: GpuResult): Table {
  return tableOf("Calls", functions, [
    [{ title: "function", unit: "text" }, (row) => row.name],
    [{ title: "of", unit: "text" }, familyOf],
    [{ title: "calls", unit: "count" }, (row) => row.calls],
    [{ title: "total", unit: "ns" }, (row) => row.totalNs],
    [{ title: "mean", unit: "ns" }, (row) => row.meanNs],
    [{ title: "p99", unit: "ns" }, (row) => row.p99Ns],
    [{ title: "max", unit: "ns" }, (row) => row.maxNs],
    [{ title: "bytes", unit: "bytes" }, (row) => row.bytes > 0 ? row.bytes : null],
    [{ title: "failed", unit: "count" }, (row) => row.failed],
  ], MAX_FUNCTIONS);
}

/** What a family of calls is of. */
export const FAMILIES: Readonly<Record<string, string>> = {
  cuda: "CUDA driver",
  cudart: "CUDA runtime",
  nccl: "NCCL",
  hip: "HIP",
  vulkan: "Vulkan",
  tensorrt: "TensorRT",
  levelzero: "Level Zero",
};

function familyOf({ family }: { readonly family: string }): string {
  return FAMILIES[family] ?? family;
}

/** A column for whose it is, where there are several. */
function processes<T extends { readonly pid: number }>(rows: readonly T[]): Figure<T> | false {
  return rows.some(({ pid }) => pid !== rows[0]!.pid) && [{ title: "process", unit: "text" }, ({ pid }) => String(pid)];
}

function placeOf({ device }: { readonly device: number | null }): string {
  return device === null ? "host" : `GPU ${device}`;
}

export function memory({ memory, memoryBefore }: GpuResult): Table {
  return tableOf(memoryBefore.processes > 0 ? "Memory that was asked for while llmprof watched" : "Memory", memory, [
    processes(memory),
    [{ title: "of", unit: "text" }, placeOf],
    [{ title: "kind", unit: "text" }, (row) => row.memory],
    [{ title: "peak", unit: "bytes" }, (row) => row.sizeMax === null ? null : row.peakBytes],
    [{ title: "allocations", unit: "count" }, (row) => row.allocations],
    memory.some(({ ofUnknownSize }) => ofUnknownSize > 0) && [{ title: "of unknown size", unit: "count" }, (row) => row.ofUnknownSize],
    [{ title: "asked for", unit: "bytes" }, (row) => row.sizeMax === null ? null : row.allocatedBytes],
    [{ title: "frees", unit: "count" }, (row) => row.frees],
    [{ title: "size p50", unit: "bytes" }, (row) => row.sizeP50],
    [{ title: "largest", unit: "bytes" }, (row) => row.sizeMax],
    [{ title: "held p50", unit: "ns" }, (row) => row.heldP50Ns],
  ], MAX_MEMORY);
}

export function held({ held }: GpuResult): Table {
  const hasStacks = held.some(({ frames }) => frames !== null);
  return tableOf("Held to the end", held, [
    processes(held),
    [{ title: "of", unit: "text" }, placeOf],
    [{ title: "kind", unit: "text" }, (row) => row.memory],
    [{ title: "blocks", unit: "count" }, (row) => row.blocks],
    [{ title: "bytes", unit: "bytes" }, (row) => row.bytes > 0 ? row.bytes : null],
    [{ title: "for", unit: "ns" }, (row) => row.longestNs],
    [{ title: "", unit: "text" }, (row) => row.exited ? "never freed" : "at the end of counting"],
    hasStacks && [
      { title: "asked for in, called by", unit: "text", below: true },
      ({ frames }) => frames === null ? null : firstFrames(fromWithout(frames)),
    ],
  ], MAX_HELD);
}

export function copies({ copies }: GpuResult): Table {
  return tableOf("Copies, with the time that the CPU was in the call", copies, [
    [{ title: "from, to", unit: "text" }, (row) => row.direction],
    [{ title: "copies", unit: "count" }, (row) => row.copies],
    [{ title: "bytes", unit: "bytes" }, (row) => row.bytes],
    [{ title: "in calls", unit: "ns" }, (row) => row.ns],
    [
      { title: "rate, where a call waits for its copy", unit: "bytes-per-second" },
      ({ waitedBytes, waitedNs }) => waitedNs > 0 ? waitedBytes / waitedNs * 1e9 : null,
    ],
  ]);
}

export function collectives({ collectives }: GpuResult): Table {
  return tableOf("Collective calls", collectives, [
    [{ title: "call", unit: "text" }, (row) => row.name],
    [{ title: "calls", unit: "count" }, (row) => row.calls],
    // Of AllGather, ReduceScatter and AlltoAll that is one rank's part, of others all.
    [{ title: "bytes as given", unit: "bytes" }, (row) => row.bytes],
    [{ title: "in calls", unit: "ns" }, (row) => row.ns],
  ]);
}

export function kernels({ kernels }: GpuResult): Table {
  return tableOf("Kernels launched", kernels, [
    [{ title: "kernel", unit: "text" }, (row) => row.name],
    [{ title: "launches", unit: "count" }, (row) => row.launches],
    [{ title: "into graphs", unit: "count" }, (row) => row.captured],
    [{ title: "run by these", unit: "count" }, (row) => row.inGraphs],
  ], MAX_KERNELS);
}

export function executed(kernels: NonNullable<GpuResult["executed"]>): Table {
  return tableOf("Kernels on the GPU, as parcagpu tells", kernels, [
    [{ title: "kernel", unit: "text" }, (row) => row.name],
    [{ title: "runs", unit: "count" }, (row) => row.runs],
    [{ title: "total", unit: "ns" }, (row) => row.totalNs],
    [{ title: "mean", unit: "ns" }, (row) => row.meanNs],
    [{ title: "max", unit: "ns" }, (row) => row.maxNs],
  ], MAX_KERNELS);
}

export function unfinished({ unfinished }: GpuResult): Table {
  return tableOf("Calls that had not returned at the end", unfinished, [
    [{ title: "function", unit: "text" }, (row) => row.name],
    [{ title: "of", unit: "text" }, familyOf],
    [{ title: "calls", unit: "count" }, (row) => row.calls],
    [{ title: "longest", unit: "ns" }, (row) => row.longestNs],
    [{ title: "in", unit: "text" }, ({ pid, tid }) => tid === pid ? `process ${pid}` : `thread ${tid} of process ${pid}`],
  ]);
}

export function errors({ errors }: GpuResult): Table {
  return tableOf("Calls that failed", errors, [
    [{ title: "function", unit: "text" }, (row) => row.function],
    [{ title: "why", unit: "text" }, (row) => row.failure],
    [{ title: "times", unit: "count" }, (row) => row.times],
    errors.some(({ echoes }) => echoes > 0) && [{ title: "as an echo", unit: "count" }, (row) => row.echoes],
  ], MAX_ERRORS);
}

export function devices({ devices }: GpuResult): Table {
  const text = (value: number | null, unit: string) => value === null ? null : `${value.toFixed(0)} ${unit}`;
  return tableOf("What the GPUs say of themselves, on average", devices, [
    [{ title: "GPU", unit: "text" }, (row) => String(row.gpu)],
    [{ title: "busy", unit: "text" }, (row) => text(row.busyPercent, "%")],
    [{ title: "its memory", unit: "text" }, (row) => text(row.memoryBusyPercent, "%")],
    [{ title: "memory used, at most", unit: "bytes" }, (row) => row.memoryUsedBytes],
    [{ title: "clock", unit: "text" }, (row) => text(row.clockMhz, "MHz")],
    [{ title: "power", unit: "text" }, (row) => text(row.powerWatts, "W")],
    [{ title: "temperature", unit: "text" }, (row) => text(row.temperatureCelsius, "°C")],
    [
      { title: "slowed down by", unit: "text" },
      ({ throttled, readings }) =>
        throttled.length === 0
          ? null
          : throttled.map(({ reason, readings: times }) => `${reason} (${(100 * times / readings).toFixed(0)} %)`).join(", "),
    ],
  ]);
}

export function files({ files }: GpuResult): Table {
  const failed = (all: number, wanted: "open" | "map", { failures, pid }: typeof users[number]) =>
    all === 0
      ? null
      : `${all}: ${failures.filter(({ what, pids }) => what === wanted && pids.includes(pid)).map(({ errno }) => errnoName(errno)).join(", ")}`;
  const users = files.flatMap(({ device, users, failures }) => users.map((user) => ({ device, failures, ...user })))
    .sort((a, b) => b.ioctlNs - a.ioctlNs || b.ioctls - a.ioctls || b.opens + b.failedOpens - (a.opens + a.failedOpens));
  return tableOf("Device files, and who used them", users, [
    [{ title: "device", unit: "text" }, (row) => row.device],
    [{ title: "process", unit: "text" }, ({ name, pid, isTarget }) => `${name} (${pid})${isTarget ? ", the target" : ""}`],
    [{ title: "from", unit: "ns" }, (row) => row.fromNs],
    [{ title: "to", unit: "ns" }, (row) => row.toNs],
    [{ title: "opens", unit: "count" }, (row) => row.opens],
    users.some(({ failedOpens }) => failedOpens > 0) && [{ title: "failed", unit: "text" }, (row) => failed(row.failedOpens, "open", row)],
    [{ title: "ioctls", unit: "count" }, (row) => row.ioctls],
    [{ title: "in them", unit: "ns" }, (row) => row.ioctlNs],
    [{ title: "maps", unit: "count" }, (row) => row.maps],
    users.some(({ failedMaps }) => failedMaps > 0) && [{ title: "failed maps", unit: "text" }, (row) => failed(row.failedMaps, "map", row)],
    [{ title: "closes", unit: "count" }, (row) => row.closes],
  ], MAX_USERS);
}

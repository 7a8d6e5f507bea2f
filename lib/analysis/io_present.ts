import type { Facts, Note, Table, View } from "../events/view.ts";
import { counted } from "../events/text.ts";
import { firstRows } from "./first_rows.ts";
import type { IoResult, RequestsResult } from "./io_schema.ts";
import { info, qualityNotes, turnsNotes, warning } from "./quality.ts";
import { limitNotes, presentSurroundings } from "./surroundings_present.ts";
import { presentSystemCalls } from "./system_calls_present.ts";
import { threadName } from "./thread_name.ts";

const MAX_FILES = 15, MAX_TENSORS = 15, MAX_THREADS = 15;

/** What was read from where, and how long that took: devices first, then files. */
export function presentIo(result: IoResult): readonly View[] {
  const views: View[] = [...notes(result), ...verdict(result), totals(result)];
  if (result.devices.length > 0) views.push(devices(result));
  if (new Set(result.processes.map(({ pid }) => pid)).size > 1) views.push(processes(result));
  if (result.files.length > 0) views.push(files(result));
  if (result.tensors.length > 0) views.push(tensors(result));
  if (result.threads.length > 0) views.push(threads(result));
  if (result.memoryCalls.length > 0) views.push(memoryCalls(result));
  views.push(...presentSurroundings(result));
  if (result.systemCalls) views.push(...presentSystemCalls(result.systemCalls));
  return views;
}

function notes(result: IoResult): Note[] {
  const { quality, windows, devices, files, untold } = result;
  const notes = [...qualityNotes(quality), ...limitNotes(result)];
  notes.push(...turnsNotes(windows));
  if (devices.length === 0) {
    const came = files.some(({ cachedBytes }) => (cachedBytes ?? 0) > 0);
    const others = "what came into memory was fetched by others for it: a network or a user's file system, or threads of the kernel";
    notes.push(info(`The target asked nothing of a disk: ${came ? others : "what was read was in the page cache, or not read"}.`));
  }
  for (const { call, requests } of untold) {
    const what = counted(requests, "request");
    notes.push(info(`The target made ${what} by ${call}: what of that was for files is in no file's reads.`));
  }
  for (const { device, name, what, errors } of devices) {
    if (errors > 0) notes.push(warning(`${counted(errors, what)} of ${name ?? device} failed: see dmesg.`));
  }
  for (const [disk, times] of new Map(devices.map(({ device, name, requeued }) => [name ?? device, requeued]))) {
    if (times > 0) notes.push(info(`${counted(times, "request")} of ${disk} had to be handed to it once more.`));
  }
  return notes;
}

function verdict({ verdict, windows }: IoResult): Note[] {
  if (windows.ns > 0 && verdict.length === 0) {
    return [
      info("Nothing waits to read: reads and page faults took less than a hundredth of the time. Of what waits to be written (fsync) sched tells."),
    ];
  }
  return verdict.map(({ wait, of, share, ns, evidence, advice }) => {
    const time = `${(share * 100).toFixed(1)} % of the time watched${wait === "queue" ? "" : ", threads added"}, ${(ns / 1e9).toFixed(2)} s`;
    return info(`Waits for ${WAITS[wait]} ${of}: ${time}, ${evidence}. ${advice}`);
  });
}

/** As a sentence says it. */
const WAITS: Readonly<Record<IoResult["verdict"][number]["wait"], string>> = {
  "reads": "reads of",
  "page faults": "page faults in",
  "queue": "the queue of",
};

function totals({ windows, devices, pageFaults, majorFaults, locks }: IoResult): Facts {
  const sum = (what: string) => devices.reduce((all, row) => row.what === what ? all + row.bytes : all, 0);
  return {
    type: "facts",
    title: "Input and output",
    facts: [
      { name: "watched", value: windows.ns, unit: "ns" },
      { name: "read from disks", value: sum("read"), unit: "bytes" },
      { name: "written to disks", value: sum("write"), unit: "bytes", note: "what the kernel writes later is not seen" },
      { name: "page faults", value: pageFaults, unit: "count" },
      { name: "that waited for the disk", value: majorFaults, unit: "count", note: "in files" },
      { name: "locked by mlock", value: locks.lockedBytes, unit: "bytes" },
    ],
  };
}

/** Columns of {@link queueAndDevice}. */
const QUEUE_AND_DEVICE = [
  { title: "queue p50", unit: "ns" },
  { title: "p99", unit: "ns" },
  { title: "device p50", unit: "ns" },
  { title: "p99", unit: "ns" },
] as const;

function queueAndDevice({ queue, service }: RequestsResult): number[] {
  return [queue.p50Ns, queue.p99Ns, service.p50Ns, service.p99Ns];
}

function devices({ devices }: IoResult): Table {
  return {
    type: "table",
    title: "Requests to disks: in the queue, and in the device",
    columns: [
      { title: "disk", unit: "text" },
      { title: "", unit: "text" },
      { title: "requests", unit: "count" },
      { title: "bytes", unit: "bytes" },
      { title: "in a row", unit: "ratio" },
      { title: "at once", unit: "text" },
      ...QUEUE_AND_DEVICE,
      { title: "max", unit: "ns" },
      { title: "errors", unit: "count" },
    ],
    rows: devices.map((row) => [
      row.name ?? row.device,
      row.what,
      row.requests,
      row.bytes,
      row.sequential / row.requests,
      row.meanInFlight.toFixed(2),
      ...queueAndDevice(row),
      row.service.maxNs,
      row.errors,
    ]),
  };
}

function processes({ processes }: IoResult): Table {
  const { title, shown } = firstRows("Requests by process", processes, MAX_THREADS);
  return {
    type: "table",
    title,
    columns: [
      { title: "process", unit: "text" },
      { title: "disk", unit: "text" },
      { title: "", unit: "text" },
      { title: "requests", unit: "count" },
      { title: "bytes", unit: "bytes" },
      { title: "at once", unit: "text" },
      ...QUEUE_AND_DEVICE,
    ],
    rows: shown.map((row) => [
      row.process === "" ? String(row.pid) : `${row.process} ${row.pid}`,
      row.name ?? row.device,
      row.what,
      row.requests,
      row.bytes,
      row.meanInFlight.toFixed(2),
      ...queueAndDevice(row),
    ]),
  };
}

function files({ files }: IoResult): Table {
  const { title, shown } = firstRows("Files", files, MAX_FILES);
  const areFetched = files.some(({ fetches }) => fetches > 0);
  return {
    type: "table",
    title,
    columns: [
      { title: "file", unit: "text" },
      { title: "reads", unit: "count" },
      { title: "read", unit: "bytes" },
      { title: "in", unit: "ns" },
      { title: "p50", unit: "ns" },
      { title: "p99", unit: "ns" },
      ...(areFetched ? [{ title: "ahead", unit: "bytes" } as const, { title: "in", unit: "ns" } as const] : []),
      { title: "mapped", unit: "bytes" },
      { title: "faults", unit: "count" },
      { title: "of disk", unit: "count" },
      { title: "in", unit: "ns" },
      { title: "from disk", unit: "bytes" },
    ],
    rows: shown.map((row) => [
      row.file,
      row.reads,
      row.readBytes,
      row.readNs,
      row.readP50Ns,
      row.readP99Ns,
      ...(areFetched ? [row.fetchedBytes, row.fetchNs] : []),
      row.mappedBytes,
      row.faults,
      row.major,
      row.majorNs,
      row.cachedBytes,
    ]),
  };
}

function threads({ threads }: IoResult): Table {
  const { title, shown } = firstRows("Threads", threads, MAX_THREADS);
  // The number of a process is that of its first thread.
  const needsProcess = shown.some(({ pid, tid }) => pid !== tid) && new Set(shown.map(({ pid }) => pid)).size > 1;
  return {
    type: "table",
    title,
    columns: [
      ...(needsProcess ? [{ title: "process", unit: "text" } as const] : []),
      { title: "thread", unit: "text" },
      { title: "reads", unit: "count" },
      { title: "read", unit: "bytes" },
      { title: "in", unit: "ns" },
      { title: "requests", unit: "count" },
      { title: "bytes", unit: "bytes" },
      { title: "in", unit: "ns" },
      { title: "faults", unit: "count" },
      { title: "of disk", unit: "count" },
      { title: "in", unit: "ns" },
    ],
    rows: shown.map((row) => [
      ...(needsProcess ? [String(row.pid)] : []),
      threadName(row),
      row.reads,
      row.readBytes,
      row.readNs,
      row.requests,
      row.requestBytes,
      row.requestNs,
      row.faults,
      row.major,
      row.majorNs,
    ]),
  };
}

function memoryCalls({ memoryCalls }: IoResult): Table {
  return {
    type: "table",
    title: "Memory asked for and given back",
    columns: [
      { title: "call", unit: "text" },
      { title: "calls", unit: "count" },
      { title: "failed", unit: "count" },
      { title: "of memory", unit: "bytes" },
      { title: "in", unit: "ns" },
    ],
    rows: memoryCalls.map(({ kind, calls, failed, bytes, ns }) => [kind, calls, failed, bytes, ns]),
  };
}

function tensors({ tensors }: IoResult): Table {
  const { title, shown } = firstRows("Tensors touched in models' files", tensors, MAX_TENSORS);
  return {
    type: "table",
    title,
    columns: [
      { title: "file", unit: "text" },
      { title: "tensor", unit: "text" },
      { title: "faults", unit: "count" },
      { title: "of disk", unit: "count" },
      { title: "in", unit: "ns" },
    ],
    rows: shown.map(({ file, tensor, faults, major, majorNs }) => [file, tensor ?? "(header)", faults, major, majorNs]),
  };
}

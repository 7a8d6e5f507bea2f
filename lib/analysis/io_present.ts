import { quantity } from "../events/quantity.ts";
import type { Facts, Note, Table, View } from "../events/view.ts";
import { counted } from "../events/text.ts";
import { areFetchedByOthers, bytesOf, cameOf, ENOUGH, ITSELF } from "./fetched.ts";
import { mebibytes } from "./figures.ts";
import { type Figure, tableOf } from "./figures_table.ts";
import type { IoResult, RequestsResult } from "./io_schema.ts";
import { WAITS } from "./io_verdict.ts";
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
  const { quality, windows, devices, untold } = result;
  const notes = [...qualityNotes(quality), ...limitNotes(result)];
  notes.push(...turnsNotes(windows));
  const own = bytesOf(result, "read"), came = cameOf(result), byOthers = areFetchedByOthers(result);
  if (devices.length === 0) {
    notes.push(
      info(
        `No disk answered the target anything: ${byOthers ? `what came into memory ${OTHERS}` : `what was read was in the page cache, or ${PAST}`}.`,
      ),
    );
  } else if (byOthers) {
    const text = `Of the ${mebibytes(came)} that came into memory for the target it asked disks for ${mebibytes(own)} itself`;
    notes.push(info(`${text}. The rest ${OTHERS}; or it is packed on the disk, or a hole of a file.`));
  } else if (own >= ENOUGH && came < ITSELF * own && quality.lostEvents === 0) {
    const text = `Of the ${mebibytes(own)} that the target asked disks for itself ${mebibytes(came)} was seen to enter the page cache`;
    notes.push(info(`${text}. The rest was read past it (O_DIRECT), came back from swap, or is what a file system reads for itself or for a write.`));
  }
  for (const { call, requests } of untold) {
    const what = counted(requests, "request");
    notes.push(info(`The target made ${what} by ${call}: what of that was for files is in no file's reads.`));
  }
  for (const { device, name, what, errors, unanswered, unansweredNs } of devices) {
    if (errors > 0) notes.push(warning(`${counted(errors, what)} of ${name ?? device} failed: see dmesg.`));
    if (unansweredNs < BUSY * windows.ns || unanswered === 0) continue;
    const since = `the oldest of them for ${quantity(unansweredNs, "ns")}`;
    notes.push(warning(`${counted(unanswered, what)} of ${name ?? device} had not been answered when counting ended, ${since}.`));
  }
  for (const { device, name, requeued } of devices) {
    if (requeued > 0) notes.push(info(`${counted(requeued, "request")} of ${name ?? device} had to be handed to it once more.`));
  }
  return notes;
}

const OTHERS = "was fetched by others for it: a network or a user's file system, or threads of the kernel";

const PAST = "came past it (O_DIRECT) from elsewhere: a network, a user's file system, memory that serves as a disk";

function verdict({ verdict, windows, devices, files, untold }: IoResult): Note[] {
  if (windows.ns > 0 && verdict.length === 0) {
    const little = "reads, page faults and calls that fill mappings, as far as they are over, waited for disks for less than a hundredth of the time";
    if (untold.length > 0 || devices.some(({ what, meanInFlight }) => what === "read" && meanInFlight >= BUSY)) {
      return [info(`Disks read for it, though ${little}: ahead of it, by io_uring, or in what is not over. Who waited for that sched tells.`)];
    }
    const filling = files.find(({ fills }) => fills.some(({ unreturned, ns }) => unreturned > 0 && ns >= BUSY * windows.ns));
    if (filling) {
      return [
        info(`A call that fills mappings of ${filling.file} had not returned when counting ended. Nothing was seen to come from a disk for it.`),
      ];
    }
    return [info(`Nothing waits to read: ${little}. Of what waits to be written (fsync) sched tells.`)];
  }
  return verdict.map(ioWait);
}

export function ioWait({ wait, of, share, ns, evidence, advice }: IoResult["verdict"][number]): Note {
  const time = `${(share * 100).toFixed(1)} % of the time watched${wait === "queue" ? "" : ", threads added"}, ${quantity(ns, "ns")}`;
  return info(`Waits for ${WAITS[wait]} ${of}: ${time}, ${evidence}. ${advice}`);
}

/** Requests at once, on average: of a disk that had less it was nothing to wait for. */
const BUSY = 0.01;

function totals(result: IoResult): Facts {
  const { windows, pageFaults, majorFaults, locks } = result;
  return {
    type: "facts",
    title: "Input and output",
    facts: [
      { name: "watched", value: windows.ns, unit: "ns" },
      { name: "read from disks", value: bytesOf(result, "read"), unit: "bytes" },
      { name: "written to disks", value: bytesOf(result, "write"), unit: "bytes", note: "what the kernel writes later is not seen" },
      { name: "page faults", value: pageFaults, unit: "count" },
      { name: "that waited for the disk", value: majorFaults, unit: "count", note: "in files" },
      { name: "locked by mlock", value: locks.lockedBytes, unit: "bytes" },
    ],
  };
}

const queueAndDevice: readonly Figure<RequestsResult>[] = [
  [{ title: "queue p50", unit: "ns" }, (row) => row.queue.p50Ns],
  [{ title: "p99", unit: "ns" }, (row) => row.queue.p99Ns],
  [{ title: "device p50", unit: "ns" }, (row) => row.service.p50Ns],
  [{ title: "p99", unit: "ns" }, (row) => row.service.p99Ns],
];

function devices({ devices }: IoResult): Table {
  const areMerged = devices.some(({ merged }) => merged > 0), areSplit = devices.some(({ split }) => split > 0);
  const areUnanswered = devices.some(({ unanswered }) => unanswered > 0);
  return tableOf("Requests to disks: in the queue, and in the device", devices, [
    [{ title: "disk", unit: "text" }, (row) => row.name ?? row.device],
    [{ title: "", unit: "text" }, (row) => row.what],
    [{ title: "requests", unit: "count" }, (row) => row.requests],
    areMerged && [{ title: "merged into them", unit: "count" }, (row) => row.merged],
    areUnanswered && [{ title: "not answered", unit: "count" }, (row) => row.unanswered],
    areSplit && [{ title: "split off", unit: "count" }, (row) => row.split],
    [{ title: "bytes", unit: "bytes" }, (row) => row.bytes],
    [{ title: "in a row", unit: "ratio" }, (row) => row.requests > 0 ? row.sequential / row.requests : 0],
    [{ title: "at once", unit: "text" }, (row) => row.meanInFlight.toFixed(2)],
    ...queueAndDevice,
    [{ title: "max", unit: "ns" }, (row) => row.service.maxNs],
    [{ title: "errors", unit: "count" }, (row) => row.errors],
  ]);
}

function processes({ processes }: IoResult): Table {
  return tableOf("Requests by process", processes, [
    [{ title: "process", unit: "text" }, (row) => row.process === "" ? String(row.pid) : `${row.process} ${row.pid}`],
    [{ title: "disk", unit: "text" }, (row) => row.name ?? row.device],
    [{ title: "", unit: "text" }, (row) => row.what],
    [{ title: "requests", unit: "count" }, (row) => row.requests],
    [{ title: "bytes", unit: "bytes" }, (row) => row.bytes],
    [{ title: "at once", unit: "text" }, (row) => row.meanInFlight.toFixed(2)],
    ...queueAndDevice,
  ], MAX_THREADS);
}

function files({ files }: IoResult): Table {
  const areFetched = files.some(({ fetches }) => fetches > 0);
  return tableOf("Files", files, [
    [{ title: "file", unit: "text" }, (row) => row.file],
    [{ title: "reads", unit: "count" }, (row) => row.reads],
    [{ title: "read", unit: "bytes" }, (row) => row.readBytes],
    [{ title: "in", unit: "ns" }, (row) => row.readNs],
    [{ title: "p50", unit: "ns" }, (row) => row.readP50Ns],
    [{ title: "p99", unit: "ns" }, (row) => row.readP99Ns],
    areFetched && [{ title: "ahead", unit: "bytes" }, (row) => row.fetchedBytes],
    areFetched && [{ title: "in", unit: "ns" }, (row) => row.fetchNs],
    [{ title: "mapped", unit: "bytes" }, (row) => row.mappedBytes],
    [{ title: "faults", unit: "count" }, (row) => row.faults],
    [{ title: "of disk", unit: "count" }, (row) => row.major],
    [{ title: "in", unit: "ns" }, (row) => row.majorNs],
    [{ title: "from disk", unit: "bytes" }, (row) => row.cachedBytes],
  ], MAX_FILES);
}

function threads({ threads }: IoResult): Table {
  const shown = threads.slice(0, MAX_THREADS);
  // The number of a process is that of its first thread.
  const needsProcess = shown.some(({ pid, tid }) => pid !== tid) && new Set(shown.map(({ pid }) => pid)).size > 1;
  return tableOf("Threads", threads, [
    needsProcess && [{ title: "process", unit: "text" }, (row) => String(row.pid)],
    [{ title: "thread", unit: "text" }, threadName],
    [{ title: "reads", unit: "count" }, (row) => row.reads],
    [{ title: "read", unit: "bytes" }, (row) => row.readBytes],
    [{ title: "in", unit: "ns" }, (row) => row.readNs],
    [{ title: "requests", unit: "count" }, (row) => row.requests],
    [{ title: "bytes", unit: "bytes" }, (row) => row.requestBytes],
    [{ title: "in", unit: "ns" }, (row) => row.requestNs],
    [{ title: "faults", unit: "count" }, (row) => row.faults],
    [{ title: "of disk", unit: "count" }, (row) => row.major],
    [{ title: "in", unit: "ns" }, (row) => row.majorNs],
  ], MAX_THREADS);
}

function memoryCalls({ memoryCalls }: IoResult): Table {
  return tableOf("Memory asked for and given back", memoryCalls, [
    [{ title: "call", unit: "text" }, (row) => row.kind],
    [{ title: "calls", unit: "count" }, (row) => row.calls],
    [{ title: "failed", unit: "count" }, (row) => row.failed],
    [{ title: "of memory", unit: "bytes" }, (row) => row.bytes],
    [{ title: "in", unit: "ns" }, (row) => row.ns],
  ]);
}

function tensors({ tensors }: IoResult): Table {
  return tableOf("Tensors touched in models' files", tensors, [
    [{ title: "file", unit: "text" }, (row) => row.file],
    [{ title: "tensor", unit: "text" }, (row) => row.tensor ?? "(header)"],
    [{ title: "faults", unit: "count" }, (row) => row.faults],
    [{ title: "of disk", unit: "count" }, (row) => row.major],
    [{ title: "in", unit: "ns" }, (row) => row.majorNs],
  ], MAX_TENSORS);
}

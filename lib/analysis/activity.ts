import type { GpuCall } from "../events/gpu.ts";
import type { Slice } from "../events/span.ts";
import type { Ns } from "../events/time.ts";
import { isLibrary } from "../target/library_name.ts";
import type { ColdstartKind } from "./coldstart_schema.ts";

/** Something that a process did, or several such things put together. Mutable: it grows as more of the same arrives. */
export interface Activity {
  kind: ColdstartKind;
  /** What may be put together: the same family and the same file. Opening and reading are one family, mapping and touching another. */
  readonly family: string;
  /** Device and inode where they are known, else the name. */
  fileKey: string;
  file: string | undefined;
  files: number;
  readonly pid: number;
  readonly tid: number;
  start: Ns;
  end: Ns;
  /** Sum of the slices, net of stops. */
  busyNs: number;
  count: number;
  bytes: number;
  faults: number;
  /** For which the disk was waited. */
  majorNs: number;
  tokens: number;
  open: boolean;
}

/** Anonymous mappings are many, and only one that is populated at once takes time. */
const LONG_MAP_NS = 1e6;

const FAMILY: Readonly<Record<string, readonly [family: string, kind: ColdstartKind]>> = {
  "library.load": ["library", "library"],
  "file.open": ["read", "open"],
  "file.read": ["read", "read"],
  "file.map": ["map", "map"],
  "memory.map": ["memory map", "memory"],
  "memory.fill": ["map", "map"],
  "memory.touch": ["map", "fault"],
  "memory.lock": ["lock", "lock"],
  "socket.listen": ["listen", "listen"],
  "llama.load": ["load", "load"],
  "llama.context": ["context", "context"],
  "llama.decode": ["decode", "decode"],
  "llama.warmup": ["warm-up", "decode"],
  "llama.encode": ["encode", "encode"],
  "llama.sample": ["sample", "sample"],
};

/** What calls of a GPU's library are for, by their kind; others take no time worth a phase. */
const OF_GPU: Readonly<Record<string, string>> = {
  init: "start the GPU",
  query: "start the GPU",
  context: "start the GPU",
  module: "load code for the GPU",
  function: "load code for the GPU",
  alloc: "memory for the GPU",
  free: "memory for the GPU",
  copy: "copy to or from the GPU",
  sync: "wait for the GPU",
  launch: "give the GPU work",
  graph: "give the GPU work",
  graphLaunch: "give the GPU work",
};
/** There are many, and of a start only the long ones matter. */
const LONG_GPU_NS = 1e5;

/** Undefined for slices that explain nothing of a start, such as operators. `busyNs`: the slice's duration net of stops. */
export function activityOf(slice: Slice, busyNs: number): Activity | undefined {
  const { file, dev, inode, bytes = 0, faults = 0, majorNs = 0, tokens = 0, errno = 0, code = false } = slice.args ?? {};
  const category = slice.category === "memory.fill" && file === undefined ? "memory.map" : slice.category;
  const known = slice.gpu ? gpuFamily(slice.gpu, busyNs) : FAMILY[category];
  if (!known) return undefined;
  let [family, kind] = known;
  // A refused lock took its time; what it did not get is not counted.
  const refused = Number(errno) !== 0;
  if (kind === "listen" && refused) return undefined;
  // Whatever is locked is locked.
  const named = typeof file === "string" && kind !== "lock" ? file : undefined;
  if (category === "memory.map" && busyNs < LONG_MAP_NS) return undefined;
  // The dynamic linker opens a library and reads its header before it maps it: part of the load. Faults in its code come later.
  if (named !== undefined && (isLibrary(named) || code)) family = kind === "fault" ? "code fault" : "library";
  if (kind === "fault" && named === undefined) [family, kind] = ["memory", "memory"];
  if (family === "decode") family = `decode ${slice.args?.phase}`;
  return {
    kind,
    family,
    // A touch knows only the name, so names decide; device and inode part files of one name where reads have them.
    fileKey: family === "read" && dev !== undefined ? `${dev}:${inode}` : named ?? "",
    file: named,
    files: 1,
    pid: slice.track.pid,
    tid: threadOf(slice),
    start: slice.start,
    end: slice.end,
    busyNs,
    count: 1,
    // An open reports the size of the file: what of it is used is seen later. What is filled was mapped.
    bytes: refused || kind === "open" || slice.category === "memory.fill" ? 0 : Number(bytes),
    faults: Number(faults),
    majorNs: Number(majorNs),
    tokens: Number(tokens),
    open: slice.open ?? false,
  };
}

function gpuFamily({ family, kind }: GpuCall, busyNs: number): readonly [family: string, kind: ColdstartKind] | undefined {
  const name = family === "nccl" ? "start NCCL" : OF_GPU[kind];
  return name === undefined || busyNs < LONG_GPU_NS ? undefined : [name, "gpu"];
}

/** Faults are drawn in a row `page faults <tid>` beside the thread that they belong to. */
function threadOf({ track }: Slice): number {
  return track.tid ?? Number(/^page faults (\d+)$/.exec(track.name)?.[1] ?? track.pid);
}

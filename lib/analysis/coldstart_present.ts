import type { Facts, Note, Table, View } from "../events/view.ts";
import { clientOf, WATCH_WHAT_IT_ASKS_FOR } from "../target/clients.ts";
import { isGpuDriver, isOfInference } from "../target/inference_files.ts";
import type { ColdstartResult } from "./coldstart_schema.ts";
import { condense } from "./condense.ts";
import { mebibytes } from "./figures.ts";
import { tableOf } from "./figures_table.ts";
import { info, qualityNotes, warning } from "./quality.ts";
import { presentSystemCalls } from "./system_calls_present.ts";

/** What fits a terminal beside the figures. */
const MAX_STEPS = 20;
const MAX_CACHED_FILES = 5;
const MAX_CODES = 8;
const MUCH_UNEXPLAINED = 0.2;

/** The waterfall from exec to first token, and what it adds up to. */
export function presentColdstart(result: ColdstartResult): readonly View[] {
  const notes = coldstartNotes(result);
  if (!result.root) return notes;
  const { pid, file, execSeen } = result.root;
  return [
    ...notes,
    headline(result),
    {
      type: "waterfall",
      title: `${file ?? "process"} (${pid}): ${execSeen ? "exec" : "first event"} to ${result.end}`,
      total: result.totalNs,
      steps: condense(result.steps, MAX_STEPS),
    },
    byKind(result),
    ...whileUnexplained(result),
    memory(result),
    ...(result.systemCalls ? presentSystemCalls(result.systemCalls) : []),
  ];
}

function headline({ root, timeToFirstTokenNs, totalNs, stoppedNs, end, milestones }: ColdstartResult): Facts {
  const from = root?.execSeen ? "from exec" : "from the first event";
  const total = end === "first token"
    ? { name: "time to first token", value: timeToFirstTokenNs, unit: "ns", note: from } as const
    : { name: "observed", value: totalNs, unit: "ns", note: `${from}; no token` } as const;
  return {
    type: "facts",
    title: "Cold start",
    facts: [
      total,
      ...milestones.filter(({ name }) => name !== "first token").map(({ name, atNs, port }) => (
        { name: `  ${name}`, value: atNs, unit: "ns", ...port !== undefined && { note: `port ${port}` } } as const
      )),
      ...milestones.filter(({ name }) => name === "connection accepted").map(({ atNs }) => (
        { name: "  token after that", value: totalNs - atNs, unit: "ns", note: "what whoever asked waited" } as const
      )),
      { name: "held by llmprof", value: stoppedNs, unit: "ns", note: "in none of the others" },
    ],
  };
}

const KIND_TITLES: Readonly<Record<string, string>> = {
  lock: "mlock",
  read: "reading files",
  fault: "faulting in mapped files",
  map: "mapping files",
  open: "opening files",
  library: "loading libraries",
  sample: "sampling",
  decode: "llama_decode",
  encode: "llama_encode",
  context: "creating the context",
  load: "model load (compute, allocation)",
  gpu: "in calls to the GPU's libraries",
  listen: "listen",
  memory: "faulting in memory",
  unexplained: "unexplained",
};

function byKind({ kinds }: ColdstartResult): Table {
  return tableOf("By kind", kinds, [
    [{ title: "kind", unit: "text" }, ({ kind }) => KIND_TITLES[kind] ?? kind],
    [{ title: "total", unit: "ns" }, (row) => row.totalNs],
    [{ title: "share", unit: "ratio" }, (row) => row.share],
  ]);
}

function whileUnexplained({ whileUnexplained }: ColdstartResult): Table[] {
  if (!whileUnexplained) return [];
  const { perSecond, samples, codes } = whileUnexplained;
  return [tableOf(`What runs while nothing explains the time (${samples} samples of a timer)`, codes, [
    [{ title: "code of", unit: "text" }, (row) => row.code],
    [{ title: "CPU time", unit: "ns" }, (row) => row.samples / perSecond * 1e9],
    [{ title: "share", unit: "ratio" }, (row) => row.share],
    [{ title: "±", unit: "ratio" }, (row) => row.error],
  ], MAX_CODES)];
}

const ENTERED = "over the whole trace, without what was in it and what is read past it (O_DIRECT)";

function memory({ pageCache, pageFaults, locks }: ColdstartResult): Facts {
  return {
    type: "facts",
    title: "Memory",
    facts: [
      { name: "read into the page cache", value: pageCache?.bytes ?? null, unit: "bytes", note: ENTERED },
      ...(pageCache?.files ?? []).slice(0, MAX_CACHED_FILES).map(({ file, bytes }) => ({ name: `  ${file}`, value: bytes, unit: "bytes" } as const)),
      { name: "page faults", value: pageFaults, unit: "count" },
      { name: "locked by mlock", value: locks.lockedBytes, unit: "bytes" },
    ],
  };
}

/** What the figures would mislead about, and what can be done about a refusal. */
function coldstartNotes(result: ColdstartResult): Note[] {
  const notes = qualityNotes(result.quality);
  if (!result.root) return [...notes, warning("No process was seen to start: nothing can be said about a cold start.")];
  if (!result.root.execSeen) {
    notes.push(warning(`Process ${result.root.pid} was running before it was watched: times count from the first event seen.`));
  }
  if (result.end === "last event") {
    notes.push(warning("No first token was seen (no llama_decode ended): the waterfall ends at the last event."));
  } else {
    if (result.firstTokenBasis === "last call") {
      notes.push(info("Nothing followed the last llama_decode: its end is taken as the first token. A warm-up call looks the same."));
    }
    // A prompt of one token looks like generation; seen from exec on, it is still the first.
    if (!result.promptSeen && !result.root.execSeen) {
      notes.push(warning("The prompt was evaluated before llmprof was attached: the token shown is not the first."));
    }
  }
  for (const { errno, count, bytes } of result.locks.failures) {
    notes.push(warning(`mlock failed ${count} ${count === 1 ? "time" : "times"} with ${errno} (${mebibytes(bytes)}): ${lockAdvice(errno)}`));
  }
  const driver = result.kinds.some(({ kind }) => kind === "gpu") ? undefined : result.phases.find(({ file }) => file && isGpuDriver(file))?.file;
  if (driver !== undefined) {
    notes.push(info(`${driver} was loaded: llmprof record --layers coldstart,gpu tells how much of the time is spent in calls to it.`));
  }
  const client = asksAnother(result);
  if (client !== null) {
    notes.push(warning(`What ${client} asks for runs under another process, and nothing of it was seen: ${WATCH_WHAT_IT_ASKS_FOR}`));
  } else if (isMostlyWaiting(result)) {
    notes.push(info("For most of the unexplained time nothing of it ran: llmprof record --layers coldstart,sched tells what it waits for."));
  }
  if (result.coarse) notes.push(info("Very many activities: neighbours were put together over longer pauses than usual."));
  return notes;
}

/** The program's name where it is a client, and nothing of its tree has loaded an engine or a model. */
function asksAnother({ root, end, phases }: ColdstartResult): string | null {
  const computes = end === "first token" || phases.some(({ kind, file }) => kind === "load" || (file !== undefined && isOfInference(file)));
  return computes ? null : clientOf(root?.file ?? "");
}

/** Of a good part of the time nobody knows the reason, and by a timer's samples threads ran for less than half of that. */
function isMostlyWaiting({ kinds, whileUnexplained }: ColdstartResult): boolean {
  const unexplained = kinds.find(({ kind }) => kind === "unexplained");
  if (!unexplained || !whileUnexplained || unexplained.share < MUCH_UNEXPLAINED) return false;
  return whileUnexplained.samples / whileUnexplained.perSecond * 1e9 < unexplained.totalNs / 2;
}

function lockAdvice(errno: string): string {
  switch (errno) {
    case "ENOMEM":
    case "EPERM":
      return "weights may be paged out. Raise the limit (`ulimit -l unlimited`, systemd `LimitMEMLOCK=infinity`, docker `--ulimit memlock=-1`) " +
        "or give the program the capability (`sudo setcap cap_ipc_lock+ep PROGRAM`).";
    case "EAGAIN":
      return "some pages could not be brought in: is there enough free memory (`free -m`)?";
    default:
      return "weights may be paged out.";
  }
}

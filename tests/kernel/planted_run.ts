import type { ColdstartPhase, ColdstartResult } from "../../lib/analysis/coldstart_schema.ts";
import type { Summary } from "../../lib/analysis/summary.ts";
import { mustRun } from "../harness/command.ts";
import { temporary } from "../harness/temporary.ts";
import { parsePlantedLog, plantedCommand, type PlantedLine, plantedMib, type PlantedPhase, plantFile, shuffled } from "../workloads/planted.ts";
import { query } from "../judge/trace_processor.ts";
import { dropFromCache } from "../workloads/pagecache.ts";
import { xorshift } from "../workloads/random.ts";
import { absolute, outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { slicesOf, type TraceSlice, within } from "./trace_figures.ts";

/** A planted phase as its own log has it and as llmprof found it, in milliseconds without the time at which it was stopped. */
export interface FoundPhase {
  readonly phase: PlantedPhase;
  readonly logged: number;
  readonly found: number;
  /** Found to begin so much later than logged. */
  readonly late: number;
}

/** Within 2 % or 5 ms of its own log, the moment of its beginning within 5 ms. */
export function isExact({ logged, found, late }: FoundPhase): boolean {
  return Math.abs(found - logged) <= Math.max(5, 0.02 * logged) && Math.abs(late) <= 5;
}

export interface PlantedRun {
  readonly order: readonly PlantedPhase[];
  readonly phases: readonly FoundPhase[];
  readonly lines: readonly PlantedLine[];
  readonly decodes: number;
  /** Connections in the trace. */
  readonly accepted: number;
  readonly stoppedMs: number;
  readonly summary: Summary<ColdstartResult>;
}

/** `start`: llmprof starts the target; `wait`: it waits for whatever inference process starts next. */
export async function plantedRun(bpftrace: string, by: "start" | "wait", seed: number): Promise<PlantedRun> {
  using folder = temporary();
  const [log, readFile, mapFile] = [folder.file("log"), folder.file("weights.gguf"), folder.file("embedding.bin")];
  plantFile(readFile, plantedMib.read);
  plantFile(mapFile, plantedMib.map);
  // From the disk they take long enough to be compared, where there is a disk.
  for (const path of [readFile, mapFile]) await dropFromCache(path);
  const order = shuffled(xorshift(seed));
  const argv = plantedCommand({ log, phases: order, readFile, mapFile });
  await using llmprof = startLlmprof("coldstart", { bpftrace, folder, ...(by === "start" && { target: { argv } }) });
  if (by === "wait") {
    await llmprof.saw("Waiting for the next inference process");
    await mustRun(argv);
  }
  const summary = summaryOf("coldstart", await llmprof.finished());
  const path = outputPath(folder, "pftrace");
  const [stops, decodes] = [await slicesOf(path, "llmprof.stopped"), await slicesOf(path, "llama.decode")];
  const [{ accepted } = {}] = await query(path, "select count(*) as accepted from slice where category = 'socket.accept'");
  const lines = parsePlantedLog(Deno.readTextFileSync(log));
  const phases = lines.filter((line) => line.phase !== "main" && line.phase !== "exit").map((line) => compare(line, summary, stops, decodes));
  const stoppedMs = stops.reduce((sum, { start, end }) => sum + Number(end - start) / 1e6, 0);
  return { order, phases, lines, decodes: decodes.length, accepted: Number(accepted), stoppedMs, summary };
}

function compare(line: PlantedLine, summary: Summary<ColdstartResult>, stops: readonly TraceSlice[], decodes: readonly TraceSlice[]): FoundPhase {
  const phase = line.phase as PlantedPhase;
  const logged = Number(line.end - line.start) - within(stops, line.start, line.end);
  const found = phase === "load" ? loaded(summary, stops, decodes) : longest(phase, summary);
  const late = absolute(summary, summary.result.root!.execNs + found.startNs) - line.start;
  return { phase, logged: logged / 1e6, found: found.durationNs / 1e6, late: Number(late) / 1e6 };
}

/** What llmprof calls a planted phase. The sleep is what nobody explains, and must be found where the log says. */
function longest(phase: Exclude<PlantedPhase, "load">, { result }: Summary<ColdstartResult>): ColdstartPhase {
  const is: Record<typeof phase, (found: ColdstartPhase) => boolean> = {
    read: ({ kind, file, bytes }) => kind === "read" && file === "weights.gguf" && bytes === plantedMib.read << 20,
    map: ({ kind, file }) => kind === "fault" && file === "embedding.bin",
    lock: ({ kind, bytes }) => kind === "lock" && bytes === plantedMib.lock << 20,
    listen: ({ kind }) => kind === "listen",
    sleep: ({ kind }) => kind === "unexplained",
  };
  const [first] = result.phases.filter(is[phase]).sort((a, b) => b.durationNs - a.durationNs);
  if (!first) {
    throw new Error(`${phase} is not among the phases: ${JSON.stringify(result.phases.map(({ name, kind, bytes }) => [name, kind, bytes]))}`);
  }
  return first;
}

/** From the opening of the library to the last call into it. */
function loaded(summary: Summary<ColdstartResult>, stops: readonly TraceSlice[], decodes: readonly TraceSlice[]) {
  const library = summary.result.phases.find(({ kind, file }) => kind === "library" && file === "libllama.so");
  if (!library) throw new Error("The loading of libllama.so is not among the phases.");
  const start = absolute(summary, summary.result.root!.execNs + library.startNs);
  const end = decodes.at(-1)?.end ?? start;
  return { startNs: library.startNs, durationNs: Number(end - start) - within(stops, start, end) };
}

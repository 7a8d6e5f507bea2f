import { ExitCode, LlmprofError, usage } from "../events/errors.ts";
import { splitBase } from "../events/time.ts";
import { quoteWord } from "../machine/needs/shell.ts";
import { ReaderFiles } from "../machine/reader_files.ts";
import { asEngine } from "../programs/engine.ts";
import { type Header, treeIn } from "../timeline/header.ts";
import type { Pseudonyms } from "../timeline/pseudonyms.ts";
import { readHeader, replayInBlocks } from "../timeline/replay.ts";
import { RecordingFolder, type RecordingSource } from "../timeline/recording_source.ts";
import { heedSignals } from "./heed_signals.ts";
import { type NamedOutputOptions, namedOutputs } from "./named_outputs.ts";
import type { OutputPaths } from "./output_checks.ts";
import { outputOwner, Outputs } from "./outputs.ts";
import { giveUpRun } from "./permissions.ts";
import { probeCatalogue } from "./probe_catalogue.ts";
import type { Profile } from "./profile.ts";
import { profileOf } from "./profiles.ts";
import { keep, tellOutcome } from "./outcome.ts";
import type { Context } from "./terminal.ts";
import { TraceRun } from "./trace_run.ts";

export interface ReplayOptions extends OutputPaths, NamedOutputOptions {
  /** None: no summary is printed. */
  readonly summary?: "text" | "json";
  readonly maxLoss?: number;
  readonly quiet: boolean;
  /** The command that shall explain it; that which recorded it when absent. */
  readonly as?: string;
  /** `--redact`. */
  readonly pseudonyms?: Pseudonyms;
}

/** As often as in a live run outputs are put on the disk, and it is heard which signals have come. */
const FLUSH_MS = 200;

/** `export` and `--from`: the same path as a live run, from bytes in a folder. */
export async function replayRecording(path: string, options: ReplayOptions, context: Context): Promise<number> {
  await beginReplay(context);
  const source = new RecordingFolder(path.replace(/(?<=.)\/+$/, ""));
  const recording = options.outputs.find((path) => path.endsWith(".llmprof"));
  if (recording !== undefined) {
    throw usage(
      `${source.name} is a recording already.`,
      "Another one of it would be a copy.",
      `To copy it: cp -r ${quoteWord(source.name)} ${quoteWord(recording)}`,
    );
  }
  return await replaySource(source, options, context);
}

/** What is read was made by others: nothing can be started from here on. A signal is a normal end, where it can be known what `nohup` has said. */
export async function beginReplay(context: Context): Promise<void> {
  await heedSignals(new ReaderFiles(), context).catch(() => {});
  await giveUpRun();
}

/** Returns the exit code. Byte for byte what the live run wrote: nothing here asks the machine. */
export async function replaySource(source: RecordingSource, options: ReplayOptions, context: Context): Promise<number> {
  const found = readHeader(source);
  const recorded = await recordedBy(found, source);
  const profile = await asked(options.as, recorded, found, source);
  const outputs = await Outputs.prepare(options, outputOwner(), () => {}, options.pseudonyms !== undefined, namedOutputs(options));
  const run = new TraceRun(profile, outputs);
  let begun = false, interrupted = false;
  void context.interrupted.then(() => interrupted = true);
  context.atKill(() => keep(outputs, context.terminal));
  try {
    const blocks = replayInBlocks(source, probeCatalogue(recorded.probes), (header) => {
      begun = true;
      const { out, recording } = run.open({ ...header, command: profile.name });
      return {
        base: splitBase(header.clock.base),
        out,
        recording,
        onFact: run.onFact,
        ...treeIn(header),
      };
    }, options.pseudonyms);
    let step = blocks.next(true);
    for (let flushed = performance.now(); !step.done; step = blocks.next(!interrupted)) {
      if (performance.now() - flushed < FLUSH_MS) continue;
      outputs.flush();
      await new Promise((resolve) => setTimeout(resolve));
      flushed = performance.now();
    }
    const { timeline, isWhole } = step.value;
    if (!isWhole) context.terminal.err(`Interrupted ${timeline.since(timeline.end)}: what came later is in the recording alone.\n`);
    const finished = run.finish(timeline), { target } = finished.summary;
    if (target?.exitCode) context.terminal.err(`The program had ended with exit code ${target.exitCode}.\n`);
    const code = tellOutcome(finished, options, context);
    outputs.mustBeWhole();
    return code;
  } catch (error) {
    if (!begun) outputs.discard();
    throw error;
  }
}

async function recordedBy({ command, options }: Header, source: RecordingSource): Promise<Profile<unknown>> {
  const profile = profileOf(command, asEngine(options.engine));
  if (profile) return await profile;
  const why = `It was made by '${command}', which this llmprof does not know.`;
  throw new LlmprofError(ExitCode.failed, `Cannot read ${source.name}.`, why, "Use the llmprof that recorded it, or a newer one.");
}

/** A recording can be explained by every command whose probes were attached: by `record`, those of the layers that it was asked for. */
async function asked(as: string | undefined, recorded: Profile<unknown>, header: Header, source: RecordingSource): Promise<Profile<unknown>> {
  if (as === undefined || as === recorded.name) return recorded;
  const profile = (await profileOf(as, "ggml"))!;
  const probes = recorded.name === "record" ? (await import("./record.ts")).attachedIn(header) : recorded.probes;
  const attached = new Set(probes.map(({ name }) => name));
  if (profile.probes.every(({ name }) => attached.has(name))) return profile;
  const path = quoteWord(source.name);
  // Which has no --from: it replays its own.
  const explains = recorded.name === "demo" ? `export ${path} --no-output --summary text` : `${recorded.name} --from ${path}`;
  throw usage(`${source.name} cannot answer what ${as} asks.`, `It was recorded by ${recorded.name}, with other probes.`, `Try: llmprof ${explains}`);
}

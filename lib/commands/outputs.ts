import type { OpenExporter, TraceHead } from "../events/exporter.ts";
import type { LlmprofError } from "../events/errors.ts";
import type { Span } from "../events/span.ts";
import { lastPart } from "../events/text.ts";
import type { View } from "../events/view.ts";
import { sinkTo } from "../../exporters/file.ts";
import type { Header } from "../timeline/header.ts";
import type { Recorder } from "../timeline/recording.ts";
import { quoteWord } from "../machine/needs/shell.ts";
import type { Owner } from "../machine/regular_file.ts";
import { sudoUser } from "../target/invoker.ts";
import { type OutputFile, RecordingOutput, TraceOutput } from "./output.ts";
import { checkOutputs, createOutput, formatAt, type NamedPath, notWritable, type OutputPaths } from "./output_checks.ts";

/** Who has to own what is written: under `sudo` the user who called it, also in a shell that it opened. Null when that is whoever llmprof runs as. */
export function outputOwner(): Owner | null {
  const user = sudoUser(Deno.env.toObject());
  return user && user.uid !== 0 ? user : null;
}

/** A file whose format is not told by its name: an option of its own asks for it. */
export interface NamedOutput extends NamedPath {
  readonly format: string;
  /** For people: what opens it. */
  readonly opensWith: string;
  load(): Promise<OpenExporter>;
}

/**
 * The files of a run. They are opened before anything is attached, so that a path that cannot be written is a mistake on the command line and
 * not the loss of a measurement; they are filled when the run's header is known.
 */
export class Outputs {
  readonly #traces: TraceOutput[] = [];
  readonly #recordings: RecordingOutput[] = [];
  readonly #spent = Promise.withResolvers<void>();
  readonly #full = Promise.withResolvers<void>();
  /** Something was given out since the last flush. */
  #fresh = false;

  private constructor() {}

  /** `onFailure` hears at once of an output that takes no more. `redact`: its files are told of without their folders. */
  static async prepare(
    paths: OutputPaths,
    owner: Owner | null,
    onFailure: (failure: LlmprofError) => void,
    redact: boolean,
    named: readonly NamedOutput[],
  ): Promise<Outputs> {
    await checkOutputs(paths, owner, named);
    const outputs = new Outputs();
    const failed = (failure: LlmprofError) => {
      onFailure(failure);
      if (outputs.written.length === 0) outputs.#spent.resolve();
    };
    const shownAs = (path: string) => redact ? lastPart(path) : path;
    const open = async (path: string, { format, opensWith, load, adds }: Omit<NamedOutput, "path" | "option">, option?: string) => {
      try {
        const exporter = await load();
        const file = createOutput(path, owner, { isDefault: option === undefined && paths.isDefault, adds });
        const told = { path: file.path, shown: shownAs(file.path), format, opensWith };
        outputs.#traces.push(new TraceOutput(told, failed, await sinkTo(file, adds), exporter));
      } catch (cause) {
        outputs.discard();
        throw notWritable(path, cause, option);
      }
    };
    for (const path of paths.outputs) {
      if (path.endsWith(".llmprof")) {
        const shown = shownAs(path);
        const file = { path, shown, format: "llmprof", opensWith: `llmprof export ${quoteWord(shown)} -o trace.pftrace` };
        outputs.#recordings.push(new RecordingOutput(file, failed, owner, outputs.#full.resolve));
        continue;
      }
      const { extension, opensWith, load } = formatAt(path);
      await open(path, { format: extension.slice(1), opensWith, load });
    }
    for (const { option, path, ...kind } of named) await open(path, kind, option);
    return outputs;
  }

  /** Traces first. */
  get files(): OutputFile[] {
    return this.#all.map(({ file }) => file);
  }

  /** Those that are whole, as far as anybody knows. */
  get written(): OutputFile[] {
    return this.#all.filter(({ failure }) => !failure).map(({ told }) => told);
  }

  /** Throws why an output could not be written to its end; what others have to say was said to `onFailure`. */
  mustBeWhole(): void {
    for (const { failure } of this.#all) if (failure) throw failure;
  }

  /** Resolves when there were outputs and none of them takes any more: nobody is left to trace for. */
  get spent(): Promise<void> {
    return this.#spent.promise;
  }

  /** Resolves when a recording holds no more programs than it has by then. */
  get full(): Promise<void> {
    return this.#full.promise;
  }

  begin(header: Header): { out: (span: Span) => void; recording: Recorder | null } {
    const head = traceHead(header);
    for (const trace of this.#traces) trace.begin(head);
    this.#fresh = true;
    const out = (span: Span) => {
      this.#fresh = true;
      for (const trace of this.#traces) trace.span(span);
    };
    return { out, recording: this.#recordings[0]?.begin(header) ?? null };
  }

  /** The files hold all that was given out, in a form that opens. */
  flush(): void {
    if (this.#fresh) { for (const trace of this.#traces) trace.flush(); }
    this.#fresh = false;
  }

  finish(views: readonly View[]): void {
    for (const trace of this.#traces) trace.finish(views);
    for (const recording of this.#recordings) recording.finish();
  }

  /** Nothing was traced. */
  discard(): void {
    for (const trace of this.#traces) trace.discard();
  }

  get #all(): (TraceOutput | RecordingOutput)[] {
    return [...this.#traces, ...this.#recordings];
  }
}

function traceHead(header: Header): TraceHead {
  const { clock, llmprof, command } = header;
  const facts: Record<string, string> = { "target": header.target.argv.join(" "), "pid": String(header.target.pid) };
  for (const [name, value] of Object.entries(header.host)) if (value !== null) facts[name] = String(value);
  if (header.bpftrace) facts.bpftrace = header.bpftrace.version;
  return { clock, llmprof, command, facts };
}

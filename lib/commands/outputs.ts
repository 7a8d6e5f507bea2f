import type { ByteSink, Exporter, OpenExporter, TraceHead } from "../events/exporter.ts";
import type { Span } from "../events/span.ts";
import type { View } from "../events/view.ts";
import { openByteSink } from "../../exporters/file.ts";
import type { Owner } from "../machine/regular_file.ts";
import { sudoUser } from "../target/invoker.ts";
import type { Header } from "../timeline/header.ts";
import { RecordingWriter } from "../timeline/recording.ts";
import { cannotGoOn, checkOutputs, formatAt, notWritable } from "./output_checks.ts";

export interface OutputFile {
  readonly path: string;
  readonly format: string;
  readonly opensWith: string;
}

interface TraceOutput extends OutputFile {
  readonly sink: ByteSink;
  readonly open: OpenExporter;
}

/** Who has to own what is written: under `sudo` the user who called it. Null when that is whoever llmprof runs as. */
export function outputOwner(): Owner | null {
  const user = sudoUser(Deno.env.toObject());
  return user && user.uid !== 0 ? user : null;
}

/**
 * The files of a run. They are opened before anything is attached, so that a path that cannot be written is a mistake on the command line and
 * not the loss of a measurement; they are filled when the run's header is known.
 */
export class Outputs {
  #exporters: Exporter[] = [];
  #recording: RecordingWriter | null = null;

  private constructor(readonly traces: readonly TraceOutput[], readonly recordings: readonly string[], readonly owner: Owner | null) {}

  static async prepare(paths: readonly string[], owner: Owner | null): Promise<Outputs> {
    checkOutputs(paths, owner);
    const traces: TraceOutput[] = [];
    for (const path of paths.filter((path) => !path.endsWith(".llmprof"))) {
      const { extension, opensWith, load } = formatAt(path);
      try {
        traces.push({ path, format: extension.slice(1), opensWith, sink: named(path, await openByteSink(path, owner)), open: await load() });
      } catch (cause) {
        throw notWritable(path, cause);
      }
    }
    return new Outputs(traces, paths.filter((path) => path.endsWith(".llmprof")), owner);
  }

  get files(): OutputFile[] {
    const recordings = this.recordings.map((path) => ({ path, format: "llmprof", opensWith: `llmprof export ${path} -o trace.pftrace` }));
    return [...this.traces.map(({ path, format, opensWith }) => ({ path, format, opensWith })), ...recordings];
  }

  begin(header: Header): { out: (span: Span) => void; recording: RecordingWriter | null } {
    const head = traceHead(header);
    this.#exporters = this.traces.map(({ sink, open }) => open(sink, head));
    const [path] = this.recordings;
    if (path !== undefined) this.#recording = RecordingWriter.create(path, header, this.owner);
    const exporters = this.#exporters;
    return {
      out: (span) => {
        for (const exporter of exporters) exporter.span(span);
      },
      recording: this.#recording,
    };
  }

  finish(views: readonly View[]): void {
    for (const exporter of this.#exporters) exporter.close(views);
    this.#recording?.finish();
  }

  /** Nothing was traced: leaves no empty file behind. */
  discard(): void {
    for (const { path, sink } of this.traces) {
      sink.close();
      Deno.removeSync(path);
    }
  }
}

function traceHead(header: Header): TraceHead {
  const { clock, llmprof, command } = header;
  const facts: Record<string, string> = { "target": header.target.argv.join(" "), "pid": String(header.target.pid) };
  for (const [name, value] of Object.entries(header.host)) if (value !== null) facts[name] = String(value);
  if (header.bpftrace) facts.bpftrace = header.bpftrace.version;
  return { clock, llmprof, command, facts };
}

/** A disk that fills up ends the run: what was written is kept, and named. */
function named(path: string, sink: ByteSink): ByteSink {
  const guarded = (action: () => void) => {
    try {
      action();
    } catch (cause) {
      throw cannotGoOn(path, cause);
    }
  };
  return { write: (bytes) => guarded(() => sink.write(bytes)), close: () => guarded(() => sink.close()) };
}

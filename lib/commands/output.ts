import type { LlmprofError } from "../events/errors.ts";
import type { ByteSink, Exporter, OpenExporter, TraceHead } from "../events/exporter.ts";
import type { Span } from "../events/span.ts";
import type { View } from "../events/view.ts";
import type { Header } from "../timeline/header.ts";
import type { Owner } from "../machine/regular_file.ts";
import { MOST_STREAMS, type Recorder, RecordingWriter } from "../timeline/recording.ts";
import { cannotGoOn } from "./output_checks.ts";

export interface OutputFile {
  readonly path: string;
  /** The path as it is told: under `--redact` without its folders. */
  readonly shown: string;
  readonly format: string;
  readonly opensWith: string;
  /** See `Exporter.empty`. */
  readonly empty?: string;
}

/**
 * One output of a run. What goes wrong with it is its own affair: it keeps what it has, takes no more, and neither the other outputs nor the
 * run hear of it but through {@link failure}.
 */
abstract class Output {
  /** Why it takes no more. */
  failure: LlmprofError | undefined;

  constructor(readonly file: OutputFile, readonly onFailure: (failure: LlmprofError) => void) {}

  /** As it is told of. */
  get told(): OutputFile {
    return this.file;
  }

  protected attempt<T>(action: () => T): T | undefined {
    if (this.failure) return;
    try {
      return action();
    } catch (cause) {
      this.fail(cause);
    }
  }

  protected fail(cause: unknown): void {
    if (this.failure) return;
    this.failure = cannotGoOn(this.file.path, cause);
    this.onFailure(this.failure);
  }
}

/** A file that an exporter fills. */
export class TraceOutput extends Output {
  #exporter: Exporter | undefined;

  constructor(file: OutputFile, onFailure: (failure: LlmprofError) => void, readonly sink: ByteSink, readonly open: OpenExporter) {
    super(file, onFailure);
  }

  override get told(): OutputFile {
    const empty = this.#exporter?.empty;
    return empty === undefined ? this.file : { ...this.file, empty };
  }

  begin(head: TraceHead): void {
    this.attempt(() => this.#exporter = this.open(this.sink, head));
  }

  span(span: Span): void {
    if (this.failure) return;
    // No closure for each of a hundred thousand spans a second.
    try {
      this.#exporter!.span(span);
    } catch (cause) {
      this.fail(cause);
    }
  }

  flush(): void {
    this.attempt(() => this.#exporter!.flush());
  }

  finish(views: readonly View[]): void {
    this.attempt(() => this.#exporter!.close(views));
  }

  /** Nothing was traced: leaves no empty file behind, and a file that was there before as it was. */
  discard(): void {
    this.attempt(() => this.sink.discard?.());
  }
}

/** With so many streams a recording is full: what is being attached by then has room, too. */
const FULL = MOST_STREAMS - 16;

/** The folder of a recording, and its streams. */
export class RecordingOutput extends Output {
  #recording: RecordingWriter | undefined;

  constructor(file: OutputFile, onFailure: (failure: LlmprofError) => void, readonly owner: Owner | null, readonly onFull: () => void) {
    super(file, onFailure);
  }

  begin(header: Header): Recorder {
    this.attempt(() => this.#recording = RecordingWriter.create(this.file.path, header, this.owner));
    let streams = 0;
    return {
      stream: (schema) => {
        const stream = this.attempt(() => {
          if (++streams === FULL) this.onFull();
          return this.#recording?.stream(schema);
        });
        return { write: (bytes) => this.attempt(() => stream?.write(bytes)), close: () => this.attempt(() => stream?.close()) };
      },
    };
  }

  /** Also what could not be written to its end belongs to its owner. */
  finish(): void {
    try {
      this.#recording?.finish();
    } catch (cause) {
      this.fail(cause);
    }
  }
}

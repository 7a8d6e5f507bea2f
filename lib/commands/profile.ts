import type { Analysis, Present } from "../analysis/analysis.ts";
import type { Slice, Span } from "../events/span.ts";
import type { Tracks } from "../events/tracks.ts";
import type { KernelFiles } from "../machine/files.ts";
import type { Engine } from "../programs/engine.ts";
import type { Layer } from "../programs/layers.ts";
import type { Probe } from "../programs/probe.ts";
import type { Header } from "../timeline/header.ts";

/** Layers that are hit more often than they tell, and the probes that are theirs alone: what these cost is not predicted. */
export interface Unpriced {
  readonly layers: readonly Layer[];
  readonly probes: readonly Probe[];
}

/** A command that traces: what it asks, how it explains the answer, and how it shows the explanation. A replay needs the same. */
export interface Profile<Result> {
  readonly name: string;
  /** What its target computes with, where that is not ggml. */
  readonly engine?: Engine;
  /** What a recording's header says of it besides. */
  readonly options?: Header["options"];
  readonly probes: readonly Probe[];
  readonly unpriced?: Unpriced;
  /** What a target runs has to be learned, by `learn`, before it is known what is to be looked at: these functions. */
  readonly learns?: { readonly learn: readonly Probe[]; readonly look: (functions: readonly string[]) => readonly Probe[] };
  /** Without a target it waits for the next inference process to start. */
  readonly waits: boolean;
  /** Probes of libraries without which there is no answer, and what they would have seen: the first of those that the run's detail leaves, `or` another. */
  readonly requires?: readonly { readonly probe: Probe; readonly or?: Probe; readonly what: string }[];
  /** With `--snapshots` it tells sums of the kernel's, of which none is lost, instead of events. */
  readonly sums?: true;
  /** What surrounds its target is looked at each second. */
  readonly surroundings?: true;
  /** What GPUs say of themselves is looked at each second. */
  readonly gpus?: true;
  /** What a recording's header says of the machine besides. */
  host?(files: KernelFiles): Promise<Header["host"]>;
  analyse(header: Header): Analysis<Result>;
  /** What outputs say of a span besides what was seen, by what the header says of the machine. */
  told?(header: Header): (span: Span) => Span;
  readonly present: Present<Result>;
  /** Slices that the explanation adds to the trace. */
  annotate?(result: Result, tracks: Tracks): readonly Slice[];
}

import type { Analysis } from "../analysis/analysis.ts";
import type { Summary } from "../analysis/summary.ts";
import { type Fact, type ProgramFact, subjectOf } from "../events/fact.ts";
import type { ProcessEnd, Span } from "../events/span.ts";
import type { View } from "../events/view.ts";
import type { Header } from "../timeline/header.ts";
import type { Timeline } from "../timeline/timeline.ts";
import type { OutputFile } from "./output.ts";
import type { Outputs } from "./outputs.ts";
import type { Profile } from "./profile.ts";
import { summarise } from "./summarise.ts";

export interface Finished<Result> {
  readonly summary: Summary<Result>;
  readonly views: readonly View[];
  /** Outputs that are whole. */
  readonly written: readonly OutputFile[];
}

/** The end of the line, the same for a live run and a replay: spans go to the outputs and to the analysis, and at the end the result into both. */
export class TraceRun<Result> {
  /** What was told of the run; not what decoders know of the target, which may be long and comes again with each turn. */
  readonly facts: Fact[] = [];
  readonly #profile: Profile<Result>;
  readonly #outputs: Outputs;
  readonly #notes: string[] = [];
  /** Sites of programs by what is said of them: a turn has the same as those before, with the names of all their functions. */
  readonly #sites = new Map<string, ProgramFact["sites"]>();
  #analysis: Analysis<Result> | undefined;
  #header: Header | undefined;
  /** How the target was seen to end. */
  #ended: ProcessEnd | undefined;
  #span: (span: Span) => void = () => {};

  constructor(profile: Profile<Result>, outputs: Outputs, readonly onSpan?: (span: Span) => void) {
    this.#profile = profile;
    this.#outputs = outputs;
  }

  readonly onFact = (fact: Fact): void => {
    if (subjectOf(fact) === null) this.facts.push(fact.fact === "program" ? { ...fact, sites: this.#once(fact.sites) } : fact);
  };

  #once(sites: ProgramFact["sites"]): ProgramFact["sites"] {
    const said = JSON.stringify(sites), known = this.#sites.get(said) ?? sites;
    this.#sites.set(said, known);
    return known;
  }

  /** What {@link Session} and {@link replay} call when the header is known. */
  open(header: Header) {
    const analysis = this.#analysis = this.#profile.analyse(header);
    this.#header = header;
    const { out, recording } = this.#outputs.begin(header);
    this.#span = out;
    const told = this.#profile.told?.(header);
    const sink = (span: Span) => {
      out(told ? told(span) : span);
      analysis.span(span);
      if (span.type === "mark" && span.kind === "note") this.#notes.push(span.text);
      if (span.type === "instant" && span.ended && span.track.pid === header.target.pid) this.#ended = span.ended;
      this.onSpan?.(span);
    };
    return { out: sink, flush: () => this.#outputs.flush(), recording };
  }

  /** After the timeline has finished. */
  finish(timeline: Timeline): Finished<Result> {
    const result = this.#analysis!.result();
    for (const slice of this.#profile.annotate?.(result, timeline.tracks) ?? []) this.#span(slice);
    // What was noted on the way limits the figures: it stands with them.
    const noted = [...new Set(this.#notes)].map((text): View => ({ type: "note", level: "info", text: sentence(text) }));
    const views = [...this.#profile.present(result), ...noted];
    this.#outputs.finish(views);
    const { files, written } = this.#outputs;
    return { summary: summarise(this.#header!, timeline, this.facts, this.#ended, files, this.#notes, result), views, written };
  }
}

function sentence(text: string): string {
  return `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

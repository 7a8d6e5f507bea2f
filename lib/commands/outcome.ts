import { ExitCode } from "../events/errors.ts";
import { counted, harmless, percent, without } from "../events/text.ts";
import { DEFAULT_BUFFER_PAGES, MOST_BUFFER_PAGES } from "../machine/bpftrace.ts";
import { renderSummary } from "../../exporters/json.ts";
import { renderText } from "../../exporters/text.ts";
import type { NamedOutputOptions } from "./named_outputs.ts";
import type { Outputs } from "./outputs.ts";
import type { Context, Terminal } from "./terminal.ts";
import type { Finished } from "./trace_run.ts";

/** Of what is added up in the kernel, snapshots tell, and no event. */
export interface OutcomeOptions extends Pick<NamedOutputOptions, "snapshots"> {
  /** None: no summary is printed. */
  readonly summary?: "text" | "json";
  readonly maxLoss?: number;
  /** A fraction; crossed by what is predicted for the whole run. */
  readonly maxOverhead?: number;
  /** Without what tracing cost, which the summary has. */
  readonly quiet: boolean;
}

/** Of a run that is no replay. */
export interface LiveRun {
  readonly bufferPages: number;
  /** See `Profile.sums`. */
  readonly sums: boolean;
  /** What to type where tracing cost so much and that was too much. */
  cheaper(overhead: number): string;
}

const UNREAD = "Whoever read the summary has ended.\n" +
  "Let the run end by itself (--duration 10s), or keep a recording (-o run.llmprof) and ask that: --from run.llmprof\n";

/** Prints the summary, says what was written and how to open it, and returns the exit code that the counts deserve. */
export function tellOutcome<Result>(
  { summary, views, written }: Finished<Result>,
  options: OutcomeOptions,
  context: Context,
  live?: LiveRun,
): number {
  const { terminal } = context;
  const { events } = summary;
  // A recording is still there to be asked.
  const onUnread = () => live && terminal.err(UNREAD);
  if (options.summary === "json") terminal.out(renderSummary(summary), onUnread);
  const skipped = events.skipped ?? 0, dropped = events.lost - skipped;
  const isNothing = events.received + dropped + events.undecodable === 0 && options.snapshots === undefined;
  if (options.summary === "text" && !isNothing) terminal.out(renderText(views, terminal), onUnread);
  const say = (text: string) => terminal.err(`${harmless(text)}\n`);
  if (isNothing) say("Note: no event was seen. The target did nothing that these probes look at while they counted.");
  const pages = live?.bufferPages ?? DEFAULT_BUFFER_PAGES;
  const larger = pages < MOST_BUFFER_PAGES
    ? `Try a larger buffer: --buffer-pages ${Math.min(4 * pages, MOST_BUFFER_PAGES)}`
    : "No buffer is larger: less has to be told.";
  if (dropped > 0) {
    const lost = `${events.lost} of ${counted(events.emitted, "event")} ${events.lost === 1 ? "was" : "were"} lost`;
    say(`Warning: ${lost}. ${larger}`);
    if (live?.sums) say("Where so many come all the time, sums of them lose none: --snapshots FILE");
  } else if (skipped > 0) {
    say(`Warning: the kernel skipped ${counted(skipped, "hit")} of the machine's: as many events may be missing from ${events.emitted}.`);
  }
  if (events.undecodable > 0) say(`Warning: ${counted(events.undecodable, "line")} not understood.`);
  const { predicted, measured, calibrated, unpriced = [] } = summary.overhead;
  if (predicted !== null && !options.quiet) {
    const guess = calibrated ? "" : " (uncalibrated)";
    say(
      `Overhead: predicted ${percent(predicted)}${without(unpriced)}${guess}, ${
        measured === null ? "not measured" : `measured ${percent(measured)}`
      }.`,
    );
  }
  for (const { shown, opensWith, empty } of written) say(`Wrote ${shown}: open it with ${opensWith}${empty === undefined ? "" : `. ${empty}`}`);
  if (options.maxLoss !== undefined && events.lost > options.maxLoss) {
    terminal.err(`More events were lost (${events.lost}) than --max-loss ${options.maxLoss} allows.\n`);
    if (dropped > 0) terminal.err(`${larger}\n`);
    if (skipped > options.maxLoss) {
      terminal.err(`The kernel skipped ${counted(skipped, "hit")} of them, because another program ran on that processor: no buffer helps there.\n`);
    }
    return ExitCode.limit;
  }
  if (live && options.maxOverhead !== undefined && predicted !== null && predicted > options.maxOverhead) {
    const allowed = `--max-overhead ${percent(options.maxOverhead)}`;
    terminal.err(`Tracing cost more (${percent(predicted)} predicted) than ${allowed} allows.\n${live.cheaper(predicted)}\n`);
    return ExitCode.limit;
  }
  return ExitCode.ok;
}

/** A second Ctrl-C: there is no time for a summary. */
export function keep(outputs: Outputs, terminal: Pick<Terminal, "err">): void {
  outputs.flush();
  if (outputs.written.length > 0) terminal.err(`Killed. Kept as far as it was written: ${outputs.written.map(({ shown }) => shown).join(", ")}\n`);
}

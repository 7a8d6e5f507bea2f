import { ExitCode } from "../events/errors.ts";
import { renderSummary } from "../../exporters/json.ts";
import { renderText } from "../../exporters/text.ts";
import type { Context } from "./terminal.ts";
import type { Finished } from "./trace_run.ts";

export interface ReportOptions {
  readonly summary: "text" | "json";
  readonly maxLoss?: number;
  readonly quiet: boolean;
}

/** Prints the summary, says what was written and how to open it, and returns the exit code that the counts deserve. */
export function report<Result>({ summary, views, files }: Finished<Result>, options: ReportOptions, context: Context): number {
  const { terminal } = context;
  const { events } = summary;
  terminal.out(options.summary === "json" ? renderSummary(summary) : renderText(views, terminal));
  if (!options.quiet) {
    if (events.lost > 0 || events.undecodable > 0) {
      terminal.err(`Warning: ${events.lost} of ${events.emitted} events lost, ${events.undecodable} not understood.`);
      terminal.err(events.lost > 0 ? " A larger buffer helps: --buffer-pages 16384\n" : "\n");
    }
    for (const { path, opensWith } of files) terminal.err(`Wrote ${path}: open it with ${opensWith}\n`);
  }
  if (options.maxLoss !== undefined && events.lost > options.maxLoss) {
    terminal.err(`More events were lost (${events.lost}) than --max-loss ${options.maxLoss} allows. Try --buffer-pages 16384.\n`);
    return ExitCode.limit;
  }
  return ExitCode.ok;
}

import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { ExitCode, LlmprofError, usage } from "../events/errors.ts";
import { harmless } from "../events/text.ts";
import type { Chart, View } from "../events/view.ts";
import { isAbsent, whyNot } from "../machine/why_not.ts";
import { quoteWord } from "../machine/needs/shell.ts";
import { LineSplitter } from "../timeline/lines.ts";
import type { ReportResult } from "../analysis/report_schema.ts";
import { SnapshotReport } from "../analysis/snapshot_report.ts";
import { ioSnapshotSchema, schedSnapshotSchema } from "../analysis/snapshots_schema.ts";
import { presentReport } from "../analysis/snapshot_report_present.ts";
import { isGzip } from "../../exporters/formats.ts";
import { renderSummary } from "../../exporters/json.ts";
import { renderText } from "../../exporters/text.ts";
import { outputFolder } from "./output_folder.ts";
import { outputOwner } from "./outputs.ts";
import { giveUpRun } from "./permissions.ts";
import type { ReportSummary } from "./report_schema.ts";
import type { Context } from "./terminal.ts";

export interface PicturesOptions {
  readonly summary: "text" | "json";
  /** Folders for pictures. */
  readonly png?: string;
  readonly svg?: string;
  readonly quiet: boolean;
}

/** `report`: tells and draws what `--snapshots` wrote. Needs no root and starts nothing. Returns the exit code. */
export async function reportSnapshots(paths: readonly string[], options: PicturesOptions, { terminal }: Context): Promise<number> {
  await giveUpRun();
  const files = paths.map(realPath), twice = paths.find((_, i) => files.indexOf(files[i]!) !== i);
  if (twice !== undefined) throw usage(`${twice} is named twice.`, "Its intervals would be counted twice.", "Name it once.");
  const report = new SnapshotReport();
  for (const path of paths) {
    if (await read(path, report) === "cut") terminal.err(`${harmless(path)} is cut: what was behind its last whole line is in no figure.\n`);
  }
  const result = report.result(), charts = report.charts();
  if (options.summary === "json") terminal.out(renderSummary({ schemaVersion: 1, command: "report", result } satisfies ReportSummary));
  else terminal.out(renderText([...presentReport(result), ...charts] satisfies View[], terminal));
  for (const path of await draw(charts, result, options)) if (!options.quiet) terminal.err(`Wrote ${harmless(path)}: open it with a browser\n`);
  return ExitCode.ok;
}

/** Whether there was more in the file than can be read. */
async function read(path: string, report: SnapshotReport): Promise<"whole" | "cut"> {
  const isRecording = path.endsWith(".llmprof") || isFolder(path);
  if (isRecording) {
    const next = `For a recording: llmprof export ${quoteWord(path)} --no-output --summary text`;
    throw usage(`Cannot report ${path}.`, "It is a folder, and report reads files that --snapshots wrote.", next);
  }
  const splitter = new LineSplitter(), decoder = new TextDecoder();
  let known = 0, found: "whole" | "cut" = "whole";
  const take = (text: string) => {
    for (const line of text.split("\n")) if (line.trim() !== "") add(line, path, report) && known++;
  };
  try {
    await unpack(path, (block) => splitter.push(block, (bytes, from, to) => take(decoder.decode(bytes.subarray(from, to)))));
  } catch (cause) {
    // Whoever packs it may be in the middle of that.
    if (known === 0 || !(cause instanceof Error && "code" in cause && cause.code === "Z_BUF_ERROR")) throw unreadable(path, cause);
    found = "cut";
  }
  // A run that goes on may be in the middle of its last line.
  take(splitter.rest());
  if (known > 0) return found;
  const next = "Such files come from: llmprof io --all --interval 5 --snapshots io.jsonl";
  throw new LlmprofError(ExitCode.failed, `Cannot report ${path}.`, "No line of it is an interval of io --snapshots or sched --snapshots.", next);
}

/** What is in the file, or compressed in it: in one piece, or in several behind each other, as `cat` puts them together. */
async function unpack(path: string, take: (block: Uint8Array) => void): Promise<void> {
  const { isFile, size } = await Deno.stat(path), { readable } = await Deno.open(path);
  // Before the first line a compressed file has nothing in it, either.
  if (!isGzip(path) || (isFile && size === 0)) { for await (const block of readable) take(block); }
  // As it is unpacked: who asks for block after block is not given what came just before a failure.
  else await pipeline(readable, createGunzip().on("data", take));
}

/** Whether the line is an interval. */
function add(line: string, path: string, report: SnapshotReport): boolean {
  let object: unknown;
  try {
    object = JSON.parse(line);
  } catch {
    object = undefined;
  }
  const io = ioSnapshotSchema.safeParse(object);
  if (io.success) return report.io(io.data), true;
  const sched = schedSnapshotSchema.safeParse(object);
  if (sched.success) return report.sched(sched.data, path), true;
  report.unread();
  return false;
}

/** One name for each file, however it was typed; as it was where there is none, as of a pipe. */
function realPath(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    return path;
  }
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

function unreadable(path: string, cause: unknown): LlmprofError {
  const why = isAbsent(cause) ? "There is no such file." : whyNot(cause);
  return new LlmprofError(ExitCode.failed, `Cannot read ${path}.`, why, "Name a file that --snapshots wrote.", { cause });
}

/** Each chart, and all of them in one picture: on the same time axis. Returns paths. */
async function draw(charts: readonly Chart[], { from, to }: ReportResult, { png, svg }: PicturesOptions): Promise<string[]> {
  if (png === undefined && svg === undefined || charts.length === 0) return [];
  const owner = outputOwner();
  const forPng = png === undefined ? null : outputFolder(png, owner, "--png DIR");
  const forSvg = svg === undefined ? null : outputFolder(svg, owner, "--svg DIR");
  const { chartsSvg } = await import("../../exporters/charts/svg.ts");
  const pictures = [["all", charts] as const, ...charts.map((chart) => [fileName(chart), [chart]] as const)];
  const written: string[] = [];
  for (const [name, shown] of pictures) {
    const picture = chartsSvg(shown, [from! * 1000, to! * 1000]);
    if (forSvg) written.push(forSvg.write(`${name}.svg`, new TextEncoder().encode(picture)));
    if (!forPng) continue;
    const { png } = await import("../../exporters/charts/png.ts");
    written.push(forPng.write(`${name}.png`, await png(picture)));
  }
  return written;
}

/** `Requests in flight` → `requests-in-flight`; what is behind a colon or in brackets explains. */
function fileName({ title }: Chart): string {
  return title.replace(/[:(].*/, "").trim().toLowerCase().replace(/[^a-z0-9]+/g, "-");
}

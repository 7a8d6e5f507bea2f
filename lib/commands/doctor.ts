import process from "node:process";
import { ExitCode } from "../events/errors.ts";
import type { View } from "../events/view.ts";
import { type Capabilities, distributionOf, readCapabilities } from "../machine/capabilities.ts";
import { type Check, missing } from "../machine/needs/check.ts";
import { checks } from "../machine/needs/needs.ts";
import { programNeeds } from "../machine/needs/programs.ts";
import { lackingPrograms, runsAsRoot } from "../machine/programs.ts";
import { ReaderFiles } from "../machine/reader_files.ts";
import { readSurroundings } from "../machine/surroundings.ts";
import { renderSummary } from "../../exporters/json.ts";
import { renderText } from "../../exporters/text.ts";
import { DEFAULT_BUFFER_PAGES } from "../machine/bpftrace.ts";
import { measuringText } from "../session/status.ts";
import { calibrationText, ceilingsTexts, readCalibration, readCeilings } from "./calibrated.ts";
import type { DoctorSummary } from "./doctor_schema.ts";
import { here } from "./here.ts";
import { readMeans } from "./means.ts";
import { type ProbeCheck, probeChecks, probeLines } from "./probe_needs.ts";
import type { Context } from "./terminal.ts";

export interface DoctorOptions {
  readonly summary: "text" | "json";
  readonly bpftrace?: string;
  readonly calibrate?: true;
}

interface Examination {
  readonly bpftrace: Capabilities["bpftrace"];
  readonly checks: readonly Check[];
  readonly probes: readonly ProbeCheck[];
}

/** Can this machine trace? The exit code says it too. */
export async function doctor(options: DoctorOptions, context: Context): Promise<number> {
  const { bpftrace, checks, probes } = await examine(options, context);
  const canTrace = checks.every(({ state }) => state !== "missing");
  const { terminal } = context;
  if (options.summary === "json") {
    const summary: DoctorSummary = {
      schemaVersion: 1,
      command: "doctor",
      bpftrace: bpftrace && { path: bpftrace.path, version: bpftrace.version.join(".") },
      result: { canTrace, checks, probes },
    };
    terminal.out(renderSummary(summary));
  } else terminal.out(renderText(present(checks, canTrace), terminal));
  if (options.calibrate && canTrace) await measureHits(options, context);
  return canTrace ? ExitCode.ok : ExitCode.machine;
}

/** Beside the answer: a run finds what is kept here. A signal kills, and guards tidy up. */
async function measureHits({ bpftrace }: DoctorOptions, { terminal, interrupted }: Context): Promise<void> {
  const begin = () => terminal.err(`${measuringText}\n`);
  const means = await readMeans(bpftrace);
  using _symbols = means.symbols;
  terminal.err(`${calibrationText(await readCalibration(means, DEFAULT_BUFFER_PAGES, "now", begin, interrupted))}\n`);
  for (const text of ceilingsTexts(await readCeilings(means, "now", interrupted) ?? [])) terminal.err(`${text}\n`);
}

async function examine(options: DoctorOptions, context: Context): Promise<Examination> {
  const current = here();
  if (current === undefined) return { bpftrace: null, checks: [noFolder], probes: [] };
  const path = Deno.env.get("PATH") ?? "";
  const lacking = await lackingPrograms();
  const programs = programNeeds(lacking, distributionOf(await Deno.readTextFile("/etc/os-release").catch(() => "")), path, await runsAsRoot());
  // Everything else is read through these programs.
  if (lacking.length > 0) return { bpftrace: null, checks: [programs], probes: [] };
  const files = new ReaderFiles();
  // Where a trace goes to when nobody says otherwise, and where there may be room instead.
  const folders = [...new Set([current, "/tmp"])];
  const [machine, around] = await Promise.all([
    readCapabilities(files, { pid: process.pid, bpftrace: options.bpftrace, path, remember: "refresh" }),
    readSurroundings(files, { pid: process.pid, folders }),
  ]);
  const probes = await probeChecks(machine);
  return { bpftrace: machine.bpftrace, checks: [programs, ...checks(machine, context, around), ...probeLines(probes, machine)], probes };
}

const noFolder = missing("room in the current folder", "it is no more", { consequence: "Nothing can be started from there.", fix: "cd /tmp" });

const order = { missing: 0, warning: 1, unknown: 2, ok: 3 } as const;

/** What has to be seen to comes first, each with the line to type. */
function present(checks: readonly Check[], canTrace: boolean): View[] {
  const columns = ["need", "state", "found"].map((title) => ({ title, unit: "text" as const }));
  const sorted = checks.toSorted((a, b) => order[a.state] - order[b.state]);
  const rows = sorted.map(({ need, state, found }) => [need, state, found]);
  const notes = sorted.filter(({ consequence }) => consequence !== "").map(({ need, state, consequence, fix, advice }): View => ({
    type: "note",
    level: state === "missing" ? "warning" : "info",
    text: [`${need}: ${consequence}`, advice].filter(Boolean).join(" "),
    ...fix === "" ? {} : { command: fix },
  }));
  const verdict = canTrace ? "This machine can trace." : "This machine cannot trace as this user, or not yet: see the warnings above.";
  return [{ type: "table", title: "What tracing needs", columns, rows }, ...notes, { type: "facts", title: verdict, facts: [] }];
}

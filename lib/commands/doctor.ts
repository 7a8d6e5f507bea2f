import process from "node:process";
import { ExitCode } from "../events/errors.ts";
import type { View } from "../events/view.ts";
import { type Check, checks } from "../machine/checks.ts";
import { readCapabilities } from "../machine/capabilities.ts";
import { ReaderFiles } from "../machine/reader_files.ts";
import { renderSummary } from "../../exporters/json.ts";
import { renderText } from "../../exporters/text.ts";
import type { DoctorSummary } from "./doctor_schema.ts";
import type { Context } from "./terminal.ts";

export interface DoctorOptions {
  readonly summary: "text" | "json";
  readonly bpftrace?: string;
}

/** Can this machine trace? The exit code says it too. */
export async function doctor(options: DoctorOptions, context: Context): Promise<number> {
  const machine = await readCapabilities(new ReaderFiles(), { pid: process.pid, bpftrace: options.bpftrace, remember: "refresh" });
  const found = checks(machine, context.argv);
  const canTrace = found.every(({ ok }) => ok !== false);
  const { terminal } = context;
  if (options.summary === "json") {
    const { bpftrace } = machine;
    const summary: DoctorSummary = {
      schemaVersion: 1,
      command: "doctor",
      bpftrace: bpftrace && { path: bpftrace.path, version: bpftrace.version.join(".") },
      result: { canTrace, checks: found.map(({ ok, ...check }) => ({ ...check, state: stateOf(ok) })) },
    };
    terminal.out(renderSummary(summary));
  } else terminal.out(renderText(present(found, canTrace), terminal));
  return canTrace ? ExitCode.ok : ExitCode.machine;
}

function present(found: readonly Check[], canTrace: boolean): View[] {
  const columns = ["need", "state", "found"].map((title) => ({ title, unit: "text" as const }));
  const rows = found.map(({ need, ok, found }) => [need, stateOf(ok), found]);
  const advice = found.filter(({ ok }) => ok !== true).map(({ need, ok, consequence, fix }): View => ({
    type: "note",
    level: ok === false ? "warning" : "info",
    text: `${need}: ${consequence}${fix === "" ? "" : ` Fix: ${fix.replace(/^Run: /, "")}`}`,
  }));
  const verdict = canTrace ? "This machine can trace." : "This machine cannot trace as this user, or not yet: see the warnings above.";
  return [{ type: "table", title: "What tracing needs", columns, rows }, ...advice, { type: "facts", title: verdict, facts: [] }];
}

function stateOf(ok: Check["ok"]): DoctorSummary["result"]["checks"][number]["state"] {
  return ok === true ? "ok" : ok === false ? "missing" : "warning";
}

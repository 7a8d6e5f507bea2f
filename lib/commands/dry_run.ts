import { ExitCode } from "../events/errors.ts";
import { percent } from "../events/text.ts";
import type { Calibration } from "../machine/calibration.ts";
import { askedFor, type Asking, detailsOf, probesOf } from "../programs/detail.ts";
import type { Filter } from "../programs/filter.ts";
import type { Probe } from "../programs/probe.ts";
import { groupByLibrary, stillAwaited } from "../session/library_groups.ts";
import { Members } from "../session/members.ts";
import { countable, gateParts, inPrograms, kernelPart, splitOnTop } from "../session/program_part.ts";
import type { Means } from "../session/means.ts";
import { plannedSites } from "../session/planned_sites.ts";
import { hitCost, overheadOf } from "../session/prediction.ts";
import { neededAtOnce, whyMissing } from "../session/why_missing.ts";
import type { Begun } from "./begin.ts";
import { calibrationText, readCalibration } from "./calibrated.ts";
import { isNamed, type TargetOptions } from "./find_target.ts";
import { nextStep, tooDear } from "./max_overhead.ts";
import { mustTrace } from "./means.ts";
import { outputOwner } from "./outputs.ts";
import { byHand, plan, type Planned } from "./planned_program.ts";
import type { Profile } from "./profile.ts";
import { programFolder } from "./program_folder.ts";
import type { Context } from "./terminal.ts";

export interface DryRunOptions extends TargetOptions, Asking {
  readonly tree: boolean;
  /** One folder for the programs at most; without, they are printed. */
  readonly folders: readonly string[];
  readonly bufferPages: number;
  readonly bpftrace?: string;
  /** Hits a second, of the probe that is hit most. */
  readonly rate?: number;
  /** A fraction, for that rate. */
  readonly maxOverhead?: number;
  readonly calibrate?: true;
}

/** Prints what a run would attach, where, and what a hit costs. Attaches nothing. */
export async function dryRun(profile: Profile<unknown>, options: DryRunOptions, context: Context, begun: Begun): Promise<number> {
  const means = await begun.means;
  const { terminal } = context;
  const prepare = () => {
    mustTrace(means, context);
    return { folder: programFolder(options.folders, outputOwner()) };
  };
  // Who is waited for may come in hours.
  const early = options.wait ? prepare() : undefined;
  const target = await begun.target;
  const { folder } = early ?? prepare();
  const filter = target ? await new Members(means, target, options.tree).filter() : { type: "new" } as const;
  const begin = () => terminal.err("Measuring…\n");
  const calibration = await readCalibration(means, options.bufferPages, options.calibrate ? "now" : "kept", begin, context.interrupted);
  const all = askedFor(profile.learns?.learn ?? profile.probes, options), probes = probesOf(options.detail, all);
  const patient = options.wait || profile.requires === undefined;
  const { parts, notYet } = await partsOf(probes, filter, { ...options, patient }, means, (text) => terminal.out(`# ${text}\n`));
  const programs = parts.map((part) => plan({ ...part, filter, bufferPages: options.bufferPages }, means.machine, calibration));
  for (const program of programs) {
    if (folder) terminal.out(`${folder.write(program)}\n`);
    else terminal.out(`${program.heading.map((line) => `# ${line}\n`).join("")}${program.commandLine("-")} <<'EOF'\n${program.text}EOF\n\n`);
  }
  for (const { need, probes } of notYet) {
    if (probes.length === 0) continue;
    const where = need.ready === "mapped" ? "while it stands at the mapping" : `when ${need.ready.call[0]} is called`;
    terminal.out(
      `# Not rendered, because no ${need.prefix}* is mapped yet: ${probes.map(({ name }) => name).join(", ")}. A run attaches it ${where}.\n`,
    );
  }
  if (profile.learns) terminal.out("# A run learns with this which operators are called, and then attaches to their beginnings and returns.\n");
  if (options.calibrate || options.rate !== undefined) terminal.out(`# ${calibrationText(calibration)}\n`);
  if (options.rate === undefined) return ExitCode.ok;
  const { text, overhead } = priceOf(programs, options.rate, calibration), { maxOverhead = Infinity } = options;
  terminal.out(`# ${text}\n`);
  if (overhead > maxOverhead) throw tooDear(maxOverhead, text, nextStep(options.detail, detailsOf(all, options.detail), overhead));
  return ExitCode.ok;
}

/** The price of a rate at the site that is hit most: that of operators where there is one, otherwise the dearest. */
function priceOf(programs: readonly Planned[], rate: number, calibration: Calibration): { readonly text: string; readonly overhead: number } {
  const uprobes = programs.flatMap(({ uprobes }) => uprobes);
  const price = ({ cost }: { readonly cost: string }) => hitCost(cost, calibration);
  const dearest = (uprobes.some(({ hot }) => hot) ? uprobes.filter(({ hot }) => hot) : uprobes).toSorted((a, b) => price(b) - price(a))[0];
  const at = `at ${rate.toLocaleString("en-US")} hits/s`;
  if (!dearest) return { text: `Predicted overhead ${at}: not known before the target has mapped a library to place a probe in.`, overhead: 0 };
  const overhead = overheadOf(rate * price(dearest), 1e9 + rate * price(dearest))!;
  return { text: `Predicted overhead ${at} of ${dearest.label} (${dearest.cost}): ${percent(overhead)} of one fully used core.`, overhead };
}

/**
 * The same choices as Attachments makes: one program for a target that has mapped all, otherwise one for each library, and gates for what is not there.
 * But a run stops a program that it starts before its first instruction, too; what is printed stops whoever maps the library, and nobody for being
 * started.
 * Throws where a run would be refused, because what it needs is not there and nobody is `patient`.
 */
async function partsOf(
  probes: readonly Probe[],
  filter: Filter,
  options: DryRunOptions & { readonly patient: boolean },
  means: Means,
  note: (text: string) => void,
) {
  const { machine, self } = means;
  const { rawTracepoints } = byHand(machine);
  const groups = groupByLibrary(countable(probes, machine, note));
  const kernel = kernelPart(probes, machine, note);
  const { planned, missing: notYet } = filter.type === "new"
    ? { planned: [], missing: groups }
    : await plannedSites(means, groups, filter.pids, options.patient);
  const missing = neededAtOnce(notYet);
  const why = filter.type !== "new" && !options.patient && missing.length > 0 && await whyMissing(means.files, filter.pids, missing);
  if (why) throw why;
  const awaits = stillAwaited(groups, notYet).length > 0;
  const parts = [kernel, ...planned, ...awaits ? gateParts(groups, filter, self, note) : []];
  const alone = awaits || (options.wait && isNamed(options)) ? parts : inPrograms(parts);
  return { parts: alone.flatMap((part) => splitOnTop(part, rawTracepoints)), notYet };
}

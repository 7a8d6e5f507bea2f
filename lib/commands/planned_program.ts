import type { Calibration } from "../machine/calibration.ts";
import type { Capabilities } from "../machine/capabilities.ts";
import { quoteWord } from "../machine/needs/shell.ts";
import type { Filter } from "../programs/filter.ts";
import type { Site } from "../programs/library_sites.ts";
import type { Offsets } from "../programs/offsets.ts";
import type { Probe } from "../programs/probe.ts";
import { type Dialect, render } from "../programs/render.ts";
import { harmless } from "../events/text.ts";
import { siteKey, type SiteMap } from "../session/program_part.ts";
import { costInKernel, hitCost, priced } from "../session/prediction.ts";
import { dialectOf } from "../session/programs.ts";
import { sizesOf } from "../session/spares.ts";
import { invocation } from "../tracing/command_line.ts";
import { microseconds } from "./calibrated.ts";

/** A program as a person can run it: always counting, where a run's own is opened and closed by llmprof. */
export interface Planned {
  readonly stream: string;
  /** Lines for a comment above it: the sites with the price of a hit. A library's name may hold anything, but no line has an end inside it. */
  readonly heading: readonly string[];
  readonly text: string;
  /** Its uprobes; `hot`: hit at the rate of operators. */
  readonly uprobes: readonly (Site & { readonly hot: boolean })[];
  /** Runs the program in that file; `-` is standard input. */
  commandLine(file: string): string;
}

export interface PlanOptions {
  readonly stream: string;
  readonly probes: readonly Probe[];
  readonly filter: Filter;
  readonly sites?: SiteMap;
  readonly offsets?: Offsets;
  readonly bufferPages: number;
}

/** How programs are written that a person runs: nobody gives bpftrace a list then. */
export function byHand(machine: Capabilities): Dialect {
  const bpftrace = machine.bpftrace!;
  return dialectOf({ ...machine, bpftrace: { ...bpftrace, features: { ...bpftrace.features, traceableList: false } } });
}

export function plan({ stream, probes, filter, sites, offsets, bufferPages }: PlanOptions, machine: Capabilities, calibration: Calibration): Planned {
  const uprobes = new Map<string, Site>();
  const bpftrace = machine.bpftrace!;
  const dialect = byHand(machine);
  const program = render({ stream, probes, filter, offsets, window: "open" }, dialect, (param) => {
    const found = sites?.get(siteKey(param)) ?? [];
    for (const site of found) for (const attach of site.byHand) uprobes.set(attach, site);
    return found.flatMap((site) => site.byHand);
  });
  const lines = [`${stream}: ${probes.map(({ summary }) => summary).join("; ")}`, ...warnings(filter, program.unsafe)];
  const placed = program.sites.map(({ attach, probe, isPrinted = false }) => ({ attach, probe, isPrinted, site: uprobes.get(attach) }));
  // By hand a site may be many attach points.
  const first = placed.filter(({ site, probe }, i) => !site || placed.findIndex((other) => other.site === site && other.probe === probe) === i);
  for (const { attach, probe, isPrinted, site } of first) {
    const cost = priced(site?.cost ?? `a ${costInKernel(attach)}`, isPrinted);
    const price = site ? `: ${calibration.measured ? "" : "about "}${microseconds(hitCost(cost, calibration))} a hit` : "";
    lines.push(`  ${site?.label ?? attach}  (${probe}; ${cost}${price})`);
  }
  const how = { ...sizesOf(bpftrace, bufferPages, machine), unsafe: program.unsafe, prompt: false, warnsOfLoss: false };
  const { env, args } = invocation(how);
  const words = [...Object.entries(env).map(([name, value]) => `${name}=${value}`), bpftrace.path, ...args.slice(0, -1)];
  return {
    stream,
    heading: lines.map(harmless),
    text: program.text,
    uprobes: first.flatMap(({ site, probe, isPrinted }) => {
      return site ? [{ ...site, cost: priced(site.cost, isPrinted), hot: probes.some(({ name, hot }) => name === probe && hot === true) }] : [];
    }),
    commandLine: (file) => ["env", ...words, file].map(quoteWord).join(" "),
  };
}

function warnings(filter: Filter, unsafe: boolean): string[] {
  return [
    ...(filter.type === "new" ? ["It looks at every process that starts after it: the target has no number yet. A run names it."] : []),
    ...(unsafe ? ["It stops such a process with SIGSTOP, and llmprof lets it go on; run by hand, that is yours to do: kill -CONT PID"] : []),
  ];
}

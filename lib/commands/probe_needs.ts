import type { Capabilities } from "../machine/capabilities.ts";
import { type Check, ok, unknown, warning } from "../machine/needs/check.ts";
import { shown } from "../machine/needs/kernel.ts";
import type { Probe } from "../programs/probe.ts";
import { parseTemplate, replaceConditions } from "../programs/template.ts";
import { anyGates } from "./probe_catalogue.ts";
import { profiles } from "./profiles.ts";

/** What one probe asks of this machine. */
export interface ProbeCheck {
  readonly probe: string;
  /** What it sees; where it sees less, what not. */
  readonly summary: string;
  /** Tracepoints, the kernel's types, `--unsafe`, and the library whose functions it probes. */
  readonly needs: readonly string[];
  /** Those of its needs that this machine lacks. */
  readonly lacks: readonly string[];
}

/** Every probe of every command, by name. A library is the target's affair: that it is not mapped here says nothing. */
export async function probeChecks(machine: Capabilities): Promise<ProbeCheck[]> {
  const used = await Promise.all(Object.values(profiles).map(async (load) => (await load()).probes));
  const all = new Map([...used.flat(), ...anyGates].map((probe) => [probe.name, probe]));
  return [...all.values()].map((probe) => checkProbe(probe, machine)).sort((a, b) => a.probe < b.probe ? -1 : 1);
}

function checkProbe(probe: Probe, machine: Capabilities): ProbeCheck {
  const { name, summary, tracepoints = [], fuller, counters = [], unsafe, library } = probe;
  const kernelTypes = followsKernelTypes(probe);
  const needs = [
    ...tracepoints,
    ...fuller ? [fuller.tracepoint] : [],
    ...counters,
    ...kernelTypes ? ["BTF"] : [],
    ...unsafe ? ["--unsafe"] : [],
    ...library ? [`${library.prefix}*`] : [],
  ];
  // Who may not look into tracefs knows of no tracepoint: then none is missed.
  const visible = machine.tracepoints.size > 0;
  const lacks = [
    ...visible ? tracepoints.filter((name) => !machine.tracepoints.has(name)) : [],
    ...kernelTypes && !machine.btf && machine.hiddenBtf === null ? ["BTF"] : [],
  ];
  const isLess = fuller && visible && lacks.length === 0 && !machine.tracepoints.has(fuller.tracepoint);
  return { probe: name, ...isLess ? { summary: fuller.summary, needs, lacks: [fuller.tracepoint] } : { summary, needs, lacks } };
}

/** It follows the kernel's own structures: BTF has to describe them. */
function followsKernelTypes({ template }: Probe): boolean {
  const withoutComments = (body: string) => body.replaceAll(/\/\/.*/g, "");
  return parseTemplate(replaceConditions(template, () => true)).some(({ predicate, body }) =>
    /\bcurtask\b|\(struct \w+ \*\)/.test(predicate + withoutComments(body))
  );
}

const OF_X86_64: ReadonlySet<string> = new Set(["exceptions:page_fault_user"]);
const OTHER_KERNEL = { advice: "Another kernel may have it: this one was built without, or is too old." };

/** One line for all that have what they need, and one for each that has not. */
export function probeLines(probes: readonly ProbeCheck[], machine: Capabilities): Check[] {
  const lacking = probes.filter(({ lacks }) => lacks.length > 0);
  const isOthers = (tracepoint: string) => machine.arch !== "x86_64" && OF_X86_64.has(tracepoint);
  const lines = lacking.map(({ probe, summary, lacks }) =>
    warning(`probe ${probe}`, `without ${lacks.join(", ")}`, {
      consequence: `Not seen: ${lowerFirst(summary)}`,
      ...shown(lacks, machine) ?? (lacks.some(isOthers) ? { advice: `No kernel for ${machine.arch} has it.` } : OTHER_KERNEL),
    })
  );
  if (lacking.length > 0) return lines;
  if (machine.tracepoints.size === 0) return [unknown("tracepoints of the probes", machine.root ? "see tracefs" : "the kernel tells root only")];
  return [ok("tracepoints of the probes", `${probes.length} of ${probes.length} probes have theirs`)];
}

function lowerFirst(text: string): string {
  return text[0]!.toLowerCase() + text.slice(1);
}

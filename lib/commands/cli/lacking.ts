import type { Command, Option } from "@commander-js/extra-typings";
import { usage } from "../../events/errors.ts";
import { quoteWord } from "../../machine/needs/shell.ts";
import { type Detail, withOperators } from "../../programs/detail.ts";
import { type Layer, layers } from "../../programs/layers.ts";
import { formatOf } from "../../../exporters/formats.ts";
import { hasOption, type Tracing } from "./setting.ts";

/** Why a command lacks options that others have. */
const WHY: Readonly<Record<Tracing, string>> = {
  operators: "It tells of each operator, of one target.",
  coldstart: "It happens once, and is seen whole.",
  record: "It looks at several things at once, from beginning to end.",
  io: "It looks at disks and files, whatever is computed.",
  gpu: "It looks at calls into GPU libraries, whatever they compute.",
  sched: "It looks at threads, whatever they compute.",
};

/** Options of the command that none of these has. */
export function lackedBy(command: Command, names: readonly Tracing[]): string[] {
  return command.options.filter((option) => !names.some((name) => hasOption(name, option))).map((option) => option.attributeName());
}

/** A mistake on the command line when it is typed. */
export function refuse(command: Command, name: Tracing, lacking: readonly string[]): void {
  const typed = typedOf(command, lacking);
  if (typed) throw usage(`${name} has no option ${typed.long}.`, WHY[name], `See: llmprof ${name} --help`);
}

/** The same mistake: nothing would be done with it. */
export function refuseOfLayers(command: Command, asked: readonly Layer[], lacking: readonly string[]): void {
  const typed = typedOf(command, lacking);
  if (!typed) return;
  const having = layers.filter((layer) => hasOption(layer, typed));
  const enough = layers.filter((layer) => layer === having.at(-1) || asked.includes(layer));
  const next = `Try: llmprof ${command.name()} --layers ${enough.join()} ${typed.flags}`;
  throw usage(`${command.name()} --layers ${asked.join()} has no option ${typed.long}.`, `It is for ${having.join(" or ")}.`, next);
}

/** What says how to add up is no use where nothing is added up. */
export function refuseOfSnapshots(command: Command): void {
  const typed = typedOf(command, ["interval", "flushEvery", "fsync"]);
  if (!typed) return;
  const example = typed.long === "--interval" ? "" : ` ${typed.flags.replace("<N>", "12")}`;
  const next = `Try: llmprof ${command.name()} --all --interval 5 --snapshots FILE${example}`;
  throw usage(`${typed.long} belongs to --snapshots.`, "Without, each event is told, and nothing is added up.", next);
}

/** What is listed concerns no process, and is printed. */
export function refuseOfListing(command: Command, { listCalls, output }: { readonly listCalls?: true; readonly output?: unknown }): void {
  const taken = ["listCalls", "summary", "quiet", "verbose", ...output === false ? ["output"] : []];
  const typed = listCalls && typedOf(command, command.options.map((option) => option.attributeName()).filter((name) => !taken.includes(name)));
  if (!typed) return;
  throw usage(`${typed.long} cannot be used with --list-calls.`, "It lists functions, and traces nothing.", "Try: llmprof gpu --list-calls");
}

/** A dry run is told the rate that a run sees, and prints programs. */
export function refuseOfDryRun(
  command: Command,
  { dryRun, rate, summary }: { readonly dryRun?: true; readonly rate?: number; readonly summary: "text" | "json" },
): void {
  if (dryRun && summary === "json" && typedOf(command, ["summary"])) {
    throw usage("--summary json cannot be used with --dry-run.", "It prints programs, and nothing is summed up.", "Leave one of them out.");
  }
  const next = `Try: llmprof ${command.name()} --pid N --dry-run --rate 25k/s`;
  if (!dryRun && typedOf(command, ["rate"])) throw usage("--rate belongs to --dry-run.", "A run sees how often its probes are hit.", next);
  if (dryRun && rate === undefined && typedOf(command, ["maxOverhead"])) {
    throw usage("With --dry-run, --max-overhead needs --rate.", "Nobody looks how often the probes are hit.", `${next} --max-overhead 2%`);
  }
}

function typedOf(command: Command, options: readonly string[]): Option | undefined {
  return command.options.find((option) => options.includes(option.attributeName()) && command.getOptionValueSource(option.attributeName()) === "cli");
}

/** Tokens, graphs and what lies between them are llama.cpp's: PyTorch knows operators. */
export function refuseOfTorch(
  name: string,
  o: { readonly [option in "tokens" | "slowerThan" | "between" | "sampleEvery" | "maxOverhead" | "detail"]?: unknown },
): void {
  const given = ([["tokens", "tokens"], ["slowerThan", "slower-than"], ["between", "between"], ["sampleEvery", "sample-every"], [
    "maxOverhead",
    "max-overhead",
  ]] as const)
    .find(([option]) => o[option] !== undefined)?.[1] ?? (o.detail === "op" ? undefined : `detail ${o.detail}`);
  if (given === undefined) return;
  const why = "Of PyTorch, operators are seen one by one, and nothing of tokens and graphs.";
  throw usage(`--${given} is not for a process that computes with PyTorch.`, why, `Try: llmprof ${name} --pid N --duration 10s`);
}

interface Drawn {
  readonly name: string;
  readonly layers: readonly Layer[];
  readonly detail: Detail;
  readonly isTorch?: boolean;
}

/** A graph of operators, of a run in which none could be seen. */
export function refuseOfGraphs(outputs: readonly string[], { name, layers: asked, detail, isTorch }: Drawn): void {
  const path = outputs.find((path) => formatOf(path)?.graph);
  if (path === undefined) return;
  const refuse = (why: string, command: string, output = path) => {
    throw usage(`There would be no graph in ${path}.`, why, `Try: llmprof ${command} --pid N --duration 10s -o ${quoteWord(output)}`);
  };
  if (isTorch) refuse("PyTorch's operators are called one by one, and no graph says which of them comes next.", name, "trace.pftrace");
  if (name !== "operators" && name !== "record") refuse(`${name} looks at no operator.`, "operators");
  if (!asked.includes("operators")) {
    const enough = layers.filter((layer) => layer === "operators" || asked.includes(layer));
    refuse(`record --layers ${asked.join()} looks at no operator.`, `record --layers ${enough.join()}`);
  }
  if (!withOperators.includes(detail)) refuse(`--detail ${detail} tells of no graph's operators.`, name);
}

/** Where a tensor is returned to a place that is named beside the arguments, and not as the first of them, others would be taken for tensors. */
export function refuseOfShapes({ shapes }: { readonly shapes?: unknown }, arch: typeof Deno.build.arch = Deno.build.arch): void {
  if (!shapes || arch === "x86_64") return;
  const why = `On ${arch} arguments lie elsewhere, and reading them there has not been tried.`;
  throw usage("--shapes is for x86_64.", why, "Leave it out: operators are seen without.");
}

/** What makes sense for a run that is over. */
export const OFFLINE = [
  "from",
  "tree",
  "output",
  "summary",
  "flushEvery",
  "fsync",
  "cudaJsonl",
  "maxLoss",
  "redact",
  "bufferPages",
  "quiet",
  "verbose",
];

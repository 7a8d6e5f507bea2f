import { Command, Option } from "@commander-js/extra-typings";
import { DEFAULT_BUFFER_PAGES } from "../../machine/bpftrace.ts";
import { type Detail, details } from "../../programs/detail.ts";
import { begin } from "../begin.ts";
import { redacting } from "../redacting.ts";
import type { Pseudonyms } from "../../timeline/pseudonyms.ts";
import { layers, usualLayers } from "../../programs/layers.ts";
import type { Profile } from "../profile.ts";
import { profileOf } from "../profiles.ts";
import type { Context } from "../terminal.ts";
import {
  lackedBy,
  OFFLINE,
  refuse,
  refuseOfDryRun,
  refuseOfGraphs,
  refuseOfLayers,
  refuseOfListing,
  refuseOfShapes,
  refuseOfSnapshots,
  refuseOfTorch,
} from "./lacking.ts";
import { outputPaths } from "./output_paths.ts";
import {
  collect,
  parseCount,
  parseDuration,
  parseFactor,
  parseInterval,
  parseLayers,
  parsePages,
  parsePattern,
  parsePercent,
  parseRate,
} from "./parse.ts";
import { type Done, explained, hasOption, option, preferTyped, type Tracing } from "./setting.ts";
import { preferProgram, targetProgram } from "./target_program.ts";
import { INTERVAL_MS } from "../totals_interval.ts";
import { groups } from "./texts.ts";

/** Commands that have options which others lack: for what an engine computes, for its operators, for turns, for sums, for calls of GPUs. */
const ENGINE = ["operators", "coldstart", "record"] as const, OPERATORS = ["operators", "record"] as const;
const TURNS = ["operators", "io", "gpu", "sched"] as const, SUMS = ["io", "sched"] as const, GPU = ["gpu", "record"] as const;

/** A command that traces: see profile.ts. */
export function traceCommand(name: Tracing, description: string, context: Context, done: Done): Command {
  const looksAtEngines = name === "operators", hasDetail = looksAtEngines || name === "record";
  const recorded = option("--from <PATH>", "explain a recording again, of this command or of a record with this layer: no target, no root", "target");
  const command = new Command(name)
    .description(description)
    .usage("[options] [-- program args…]")
    .argument("[program...]", "program to start and its arguments, after --")
    .addOption(option("--pid <N>", "this process", "target").argParser(parseCount(1)).conflicts(["comm", "match", "container"]))
    .addOption(option("--comm <NAME>", "the process of this name", "target").conflicts(["match", "container"]))
    .addOption(option("--match <REGEX>", "the process whose command line matches", "target").argParser(parsePattern).conflicts(["container"]))
    .addOption(option("--container <NAME|ID>", "the processes of this container (podman, docker, containerd)", "target"))
    .addOption(
      option("--all", "everything that runs on this machine", "target", ["io", "gpu", "sched"])
        .conflicts(["pid", "comm", "match", "container", "wait"]),
    )
    .addOption(
      option("--layers <LIST>", `what is looked at: ${layers.join(", ")}`, "tracing", ["record"])
        .argParser(parseLayers).default(usualLayers, usualLayers.join()),
    )
    .addOption(option("--wait", "wait for a match, again whenever it ends; or for the library in a process that runs", "target"))
    .addOption(option("--no-tree", "this one process, without its children", "target"))
    .addOption(recorded)
    .addOption(option("--duration <TIME>", "end after 10s, 5m …; a program after -- goes on", "end").argParser(parseDuration))
    .addOption(
      option("--tokens <N>", "end after so many generated tokens; a program after -- goes on", "end", ENGINE).argParser(parseCount(1)),
    )
    .addOption(
      option("--every <TIME>", "with --for: watch it every 30s …, with nothing attached in between", "end", TURNS).argParser(parseDuration),
    )
    .addOption(
      option("--for <TIME>", `with --every${looksAtEngines ? " or --slower-than (there 2s, if not said)" : ""}: for 2s … each time`, "end", TURNS)
        .argParser(parseDuration),
    )
    .addOption(
      option(
        "-o, --output <PATH>",
        `trace (.pftrace .json .jsonl)${
          hasDetail ? ", graph of operators (.dot .mmd .graph.json)" : ""
        }, each + .gz, or recording (.llmprof); repeatable`,
        "output",
      ).argParser(collect),
    )
    .addOption(option("--no-output", "write no file", "output"))
    .addOption(
      option("--summary <FORMAT>", "summary on standard output; with text, a program after -- writes there, too", "output")
        .choices(["text", "json"] as const).default("text" as const),
    )
    .addOption(
      option("--snapshots <FILE>", "add up, and add a line of JSON for each interval to that file, instead of telling of each event", "output", SUMS),
    )
    .addOption(option("--interval <TIME>", "how long one is: 5 (seconds, the default), 500ms …", "output", SUMS).argParser(parseInterval))
    .addOption(
      option("--flush-every <N>", "so many lines of --snapshots are written together", "output", SUMS).argParser(parseCount(1)).default(1),
    )
    .addOption(option("--fsync", "each time they are on the disk before llmprof goes on", "output", SUMS))
    .addOption(option("--cuda-jsonl <FILE>", "a line of JSON for each CUDA call that does something; with --every-call, for all", "output", GPU))
    .addOption(
      option("--list-calls", "print which functions are decoded; of files after --, which of those that they ask for, or offer", "general", ["gpu"]),
    )
    .addOption(option("--max-loss <EVENTS>", "exit 4 when more events were lost", "output").argParser(parseCount(0)))
    .addOption(
      option("--redact", "arguments, paths outside the model and names of threads become argument-1, path-1, name-1 …", "output").conflicts([
        "dryRun",
      ]),
    )
    .addOption(detailOption(name, hasDetail))
    .addOption(
      option(
        "--slower-than <FACTOR>",
        "watch tokens alone, until one takes 1.5x as long as those before: then --detail for the next ones",
        "tracing",
        ["operators"],
      ).argParser(parseFactor),
    )
    .addOption(
      option("--between", "see what libllama is asked between tokens: text to tokens and back, state, changes of the cache", "tracing", OPERATORS),
    )
    .addOption(
      option(
        "--learn <TIME>",
        "PyTorch: attach only to operators that run, when for so long no new one has (2s; with bpftrace 0.17 unasked)",
        "tracing",
        ["operators"],
      ).argParser(parseDuration),
    )
    .addOption(
      option("--shapes", "PyTorch: the shapes of the tensors that each operator is given, as well", "tracing", ["operators"]),
    )
    .addOption(
      option(
        "--stacks",
        `who called, as far as code keeps frame pointers: ${STACKS[name] ?? `${STACKS.sched}, ${STACKS.gpu}`}`,
        "tracing",
        ["gpu", "sched", "record"],
      ).conflicts(["snapshots"]),
    )
    .addOption(
      option("--every-call", "also calls that only ask how things stand (cudaGetDevice): to watch one takes longer than to make it", "tracing", GPU),
    )
    .addOption(option("--syscalls", "count the system calls of each thread as well, and the time in them", "tracing").conflicts(["snapshots"]))
    .addOption(
      option(
        "--sample-every <N>",
        "hardware counters as well: cycles and instructions, told once in N (1000000) events; cache and branch misses, once in a hundredth of N",
        "tracing",
        OPERATORS,
      )
        .argParser(parseCount(1000)),
    )
    .addOption(
      option(
        "--max-overhead <PERCENT>",
        "look first; see less, or refuse (exit 4), where more is predicted (with --dry-run: at --rate)",
        "tracing",
        ENGINE,
      ).argParser(parsePercent),
    )
    .addOption(
      option(
        "--calibrate",
        "measure what a hit costs here, and what the machine can read and compute at most (kept until the next boot)",
        "tracing",
        ENGINE,
      ),
    )
    .addOption(option("--rate <N/s>", "with --dry-run: the overhead at so many hits a second", "tracing", ENGINE).argParser(parseRate))
    .addOption(option("--dry-run", "print the programs and what a hit costs, as text; attach nothing (-o DIR: a file each)", "tracing"))
    .addOption(option("--buffer-pages <N>", "pages of 4 KiB of the kernel's buffer", "tracing").argParser(parsePages).default(DEFAULT_BUFFER_PAGES))
    .addOption(option("--bpftrace <PATH>", "bpftrace to use", "tracing"))
    .addOption(option("--quiet", "no progress"))
    .addOption(option("--verbose", "causes and stacks of failures"))
    .action(async (words, given) => {
      const lacks = lackedBy(command as unknown as Command, [name]);
      refuse(command as unknown as Command, name, lacks);
      // Of a recording it is known later which layers it has.
      const looked = name === "record" && given.from === undefined ? given.layers : layers;
      const ofNoLayer = lackedBy(command as unknown as Command, looked).filter((option) => option !== "layers");
      refuseOfLayers(command as unknown as Command, looked, ofNoLayer);
      refuseOfListing(command as unknown as Command, given);
      refuseOfDryRun(command as unknown as Command, given);
      const lacking = [...lacks, ...ofNoLayer];
      const without = {
        ...Object.fromEntries(lacking.map((option) => [option, undefined])),
        ...(!(hasDetail && looked.includes("operators")) && { detail: "op" }),
      };
      const typed = { ...given, ...without as Record<never, never>, wait: given.wait === true, quiet: given.quiet === true };
      // What is added up without a target is what everybody does.
      const isNamed = words.length > 0 || [given.pid, given.comm, given.match, given.container, given.from].some((target) => target !== undefined);
      const o = typed.snapshots !== undefined && !isNamed && !typed.wait ? { ...typed, all: true as const } : typed;
      const program = targetProgram(name, words, o, context);
      if (o.listCalls) return done(await (await import("../list_calls.ts")).listCalls(program, o.summary, context));
      if (o.snapshots === undefined) refuseOfSnapshots(command as unknown as Command);
      const asked = o.output as string[] | false | undefined;
      // Who asks for snapshots asks for no trace.
      const paths = o.dryRun || (o.snapshots !== undefined && asked === undefined) ? { outputs: [] } : outputPaths(name, asked, context);
      const isTyped = (command as unknown as Command).getOptionValueSource("output") === "cli";
      // What the environment names is where any command's trace goes, and of a recording it is known later what it can answer.
      const drawn = { name, layers: looked, detail: o.detail }, drawings = isTyped && o.from === undefined ? paths.outputs : [];
      refuseOfGraphs(drawings, drawn);
      const run = o.snapshots === undefined
        ? { snapshots: undefined, interval: undefined }
        : { interval: o.interval ?? INTERVAL_MS, snapshots: { path: o.snapshots, flushEvery: o.flushEvery, fsync: o.fsync === true } };
      const hidden = [o.comm, o.match?.source, o.container, o.from, o.snapshots, o.cudaJsonl, ...paths.outputs];
      const { from } = o;
      if (from !== undefined) {
        const { replayRecording } = await import("../replay.ts");
        const replay = (pseudonyms?: Pseudonyms) => replayRecording(from, { ...o, ...run, ...paths, as: name, pseudonyms }, context);
        return done(await redacting(o.redact === true, program, hidden, context, replay));
      }
      refuseOfShapes(o);
      using begun = begin({ name, waits: name === "coldstart" }, { ...o, program }, context);
      // Who is meant may be wrong: that is told later.
      const engine = o.snapshots !== undefined ? "totals" : !looksAtEngines ? "ggml" : await begun.engine.catch(() => "ggml" as const);
      const load = async () =>
        name === "record" ? (await import("../record.ts")).recordProfile(o.layers) as Profile<unknown> : await profileOf(name, engine)!;
      if (engine === "torch" || engine === "learned torch") {
        refuseOfTorch(name, o);
        refuseOfGraphs(drawings, { ...drawn, isTorch: true });
      }
      if (o.dryRun) {
        const [profile, { dryRun }] = await Promise.all([load(), import("../dry_run.ts")]);
        // What the environment names is where a trace goes.
        const folders = isTyped && o.output !== false ? o.output as string[] : [];
        return done(await dryRun(profile, { ...o, ...run, folders, program }, context, begun));
      }
      // bpftrace takes longest to load: it begins before the rest of llmprof does.
      await begun.spares;
      const [profile, { trace }] = await Promise.all([load(), import("../trace.ts")]);
      const live = (pseudonyms?: Pseudonyms) => trace(profile, { ...o, ...run, ...paths, program, pseudonyms }, context, begun);
      done(await redacting(o.redact === true, program, hidden, context, live));
    });
  recorded.conflicts(command.options.map((option) => option.attributeName()).filter((name) => !OFFLINE.includes(name)));
  for (const option of command.options) option.hideHelp(option.hidden || !hasOption(name, option));
  preferTyped(command as unknown as Command);
  preferProgram(command as unknown as Command, context);
  return explained(command as unknown as Command);
}

/** How much is seen: of an engine in levels. Requests to disks are always told one by one. Where there is no choice, whatever is typed is refused alike. */
function detailOption(name: Tracing, hasDetail: boolean): DetailOption {
  if (name === "io") {
    const only = new Option("--detail <LEVEL>", "request: each request to a disk").helpGroup(groups.tracing).choices(["request"]).default("request");
    return only as unknown as DetailOption;
  }
  const levels = option(
    "--detail <LEVEL>",
    "wait: every operator and its wait for other workers; op: every operator; sum: operators added up in the kernel, and one graph a second; graph: tokens and graphs; sample: tokens, and a timer's samples of what runs; token: tokens alone",
    "tracing",
    OPERATORS,
  ).default("op");
  return (hasDetail ? levels.choices(details) : levels) as DetailOption;
}

type DetailOption = Option<"--detail <LEVEL>", undefined, "op", undefined, false, Detail>;

/** Whose stack is told. */
const STACKS: Readonly<Record<string, string>> = { sched: "where a thread leaves its processor", gpu: "where GPU memory is allocated" };

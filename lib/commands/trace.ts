import { ExitCode, type LlmprofError } from "../events/errors.ts";
import type { Fact, Knowledge } from "../events/fact.ts";
import { startGuard } from "../machine/guard.ts";
import { readDisks } from "../machine/disks.ts";
import { readPressure } from "../machine/pressure.ts";
import { ReaderFiles } from "../machine/reader_files.ts";
import { askedFor, type Asking, probesOf } from "../programs/detail.ts";
import type { Probe } from "../programs/probe.ts";
import { gatePrefixes, groupByLibrary } from "../session/library_groups.ts";
import { Bystanders } from "../session/bystanders.ts";
import { Learning } from "../session/learning.ts";
import type { Means } from "../session/means.ts";
import { Session } from "../session/session.ts";
import { sideLook } from "../session/side_look.ts";
import { StatusLine } from "../session/status.ts";
import type { Target } from "../session/target.ts";
import { SlowTokens } from "../session/slow_tokens.ts";
import { TokenCount } from "../session/tokens.ts";
import { type Invoker, readInvoker } from "../target/invoker.ts";
import { launchStopped, mustNotSuspend } from "../target/launch.ts";
import { listPids } from "../target/process.ts";
import { checkProgram } from "../target/program_path.ts";
import type { Pseudonyms } from "../timeline/pseudonyms.ts";
import type { Timeline } from "../timeline/timeline.ts";
import type { Begun } from "./begin.ts";
import { ceilingsTexts, readCeilings } from "./calibrated.ts";
import { findAgain, findRunning, isNamed, type TargetOptions } from "./find_target.ts";
import { hostFacts } from "./host_facts.ts";
import { mustTrace } from "./means.ts";
import { mustBeHere } from "./must_be_here.ts";
import { checkOutputs, type OutputPaths } from "./output_checks.ts";
import { nameFacts } from "./name_facts.ts";
import { type NamedOutputOptions, namedOutputs } from "./named_outputs.ts";
import { outputOwner, Outputs } from "./outputs.ts";
import { probeCatalogue } from "./probe_catalogue.ts";
import type { Profile } from "./profile.ts";
import { keep, type OutcomeOptions, tellOutcome } from "./outcome.ts";
import { type OverheadOptions, RunOverhead } from "./run_overhead.ts";
import type { Context } from "./terminal.ts";
import { tellEachSecond } from "./tell_each_second.ts";
import { WatchedEngine } from "./watched_engine.ts";
import { WatchedGpus } from "./watched_gpus.ts";
import { WatchedNames } from "./watched_names.ts";
import { WatchedSurroundings } from "./watched_surroundings.ts";
import { WatchedTracers } from "./watched_tracers.ts";
import { WatchedWallClock } from "./watched_wall_clock.ts";
import { TraceRun } from "./trace_run.ts";
import { LEARN_MS, learningTurn, nextTurn, turnsOf } from "./trace_turns.ts";
import { checkSeen, whyGone } from "./unseen.ts";

export interface TraceOptions extends TargetOptions, OutputPaths, OutcomeOptions, OverheadOptions, NamedOutputOptions, Asking {
  readonly duration?: number;
  readonly tokens?: number;
  readonly bpftrace?: string;
  /** Milliseconds without anything new after which it is known what runs. */
  readonly learn?: number;
  /** `--redact`. */
  readonly pseudonyms?: Pseudonyms;
  /** What the program prints is nobody's concern. */
  readonly mute?: boolean;
}

/** Runs a profile on a live target and returns the exit code. */
export async function trace<Result>(profile: Profile<Result>, options: TraceOptions, context: Context, begun: Begun): Promise<number> {
  // Mistakes on the command line come first: no target is started and no file left behind before they are told.
  const owner = outputOwner(), named = namedOutputs(options);
  await checkOutputs(options, owner, named);
  let interrupted = false;
  void context.interrupted.then(() => interrupted = true);
  const launches = options.program.length > 0;
  const [means, spares, underNohup] = await Promise.all([begun.means, begun.spares, begun.underNohup]);
  const status = new StatusLine(context.terminal, options.quiet, options.pseudonyms);
  const invoker = launches ? await readInvoker(means.files, means.self) : null;
  // Root may see less than the program's user: NFS can keep it out, and FUSE everybody else.
  const seen = invoker?.user ? new ReaderFiles(invoker.user) : means.files;
  const program = invoker ? await checkProgram(seen, options.program[0]!, invoker.environment.PATH, mustBeHere()) : "";
  const probes = askedFor(profile.probes, options);
  const groups = groupByLibrary(probes);
  if (launches && groups.length > 0) await mustNotSuspend(means.files, means.self, options.program[0]!);
  // Who is waited for may come in hours.
  if (options.wait) mustTrace(means, context);
  const found = await begun.target;
  if (interrupted || (!launches && !found)) return nothing(context);
  mustTrace(means, context);
  const patient = options.wait || profile.requires === undefined;
  const stopped = gatePrefixes(groups).map((prefix) => `*/${prefix}*`);
  const starting = startGuard(stopped, means.machine.bpftrace!.features.symbols ? means.symbols.root : "");
  const overhead = await RunOverhead.before(means, found, probes, options, status, context.interrupted, profile.unpriced);
  const ceilings = await readCeilings(means, options.calibrate ? "now" : "kept", context.interrupted);
  if (options.calibrate) { for (const text of ceilingsTexts(ceilings ?? [])) status.note(text); }
  const told = (text: string) => options.pseudonyms?.prose(text) ?? text;
  const unwritable = ({ what, why }: LlmprofError) => context.terminal.err(`${told(`${what} ${why}`)}\n`);
  const outputs = await Outputs.prepare(options, owner, unwritable, options.pseudonyms !== undefined, named);
  context.atKill(() => outputs.discard());
  const guard = await starting;
  const tokens = new TokenCount(options.tokens);
  const slow = options.slowerThan === undefined ? undefined : new SlowTokens(options.slowerThan);
  const host = await profile.host?.(means.files);
  const learning = profile.learns && new Learning(means, options.learn ?? LEARN_MS);
  const next = learning ? learningTurn(profile.learns!, learning, options, means) : nextTurn(options, probes, overhead.detail, slow, means);
  const run = new TraceRun(profile, outputs, (span) => {
    tokens.span(span);
    slow?.span(span);
    overhead.span(span);
  });
  const live = { bufferPages: options.bufferPages, sums: profile.sums === true, cheaper: (cost: number) => overhead.cheaper(cost) };
  const finish = (timeline: Timeline) => tellOutcome(run.finish(timeline), options, context, live);
  let session: Session | undefined;
  try {
    const how = { ...invoker!, underNohup };
    const target = found ?? await launch(means, options, program, how, (pid) => guard.stopped(pid));
    const isToldOf = (fact: Knowledge["fact"]) => probes.some(({ facts }) => facts?.includes(fact));
    const asked = { byNode: host?.nodes !== undefined, affinity: isToldOf("affinity"), pageBytes: means.machine.pageBytes, everybody: options.all };
    const surroundings = profile.surroundings && new WatchedSurroundings(means.files, () => session!.members(), asked, means.monotonic);
    const gpus = profile.gpus && new WatchedGpus(means);
    const names = async () => options.all ? [] : await nameFacts(means.files, await session!.members());
    const tell = async (facts: Promise<readonly Fact[]>) => {
      for (const fact of await sideLook(facts, [])) session!.tell(fact);
    };
    const everybody = () => options.all ? listPids(means.files) : session!.members();
    const called = options.snapshots && isToldOf("names") ? new WatchedNames(means.files, everybody) : undefined;
    const tracers = isToldOf("tracers") && new WatchedTracers(means.files, () => session!.tracers);
    const engine = options.all ? undefined : new WatchedEngine(means.files, () => session!.members());
    const bystanders = options.all ? undefined : new Bystanders(means.files, () => session!);
    session = new Session(means, {
      target,
      ...(options.wait && isNamed(options) && { again: () => findRunning(means, options, context, () => {}, "newest") }),
      ...(found?.type === "running" && next &&
        { turns: await turnsOf(found, () => findAgain(means, options, found), next, means) }),
      tree: options.tree,
      probes: probesOf(slow ? "token" : overhead.detail, probes),
      bufferPages: options.bufferPages,
      ...(spares && { spares }),
      due: () => tokens.due,
      ...(surroundings && { atWindow: () => tell(surroundings.look(session!.pid, true)) }),
      guard,
      patient,
      find: probeCatalogue(profile.probes),
      header: {
        schemaVersion: 1,
        llmprof: context.version,
        command: profile.name,
        options: {
          detail: overhead.detail,
          ...(slow && { slowerThan: slow.factor }),
          ...(profile.engine && { engine: profile.engine }),
          ...profile.options,
        },
        host: { ...hostFacts(means.machine), ...host },
        ...(ceilings && { ceilings }),
        bpftrace: { path: means.machine.bpftrace!.path, version: means.machine.bpftrace!.text.replace(/^bpftrace v/, "") },
      },
      open: (header) => {
        context.atKill(() => keep(outputs, context.terminal));
        return run.open(header);
      },
      pseudonyms: options.pseudonyms,
      onFact: run.onFact,
      heard: (event) => {
        overhead.heard(event);
        learning?.heard(event);
      },
      conclude: async () => {
        const looks = [overhead.conclude(), surroundings?.conclude(), engine?.once(), names(), called?.look(), bystanders?.conclude()];
        return (await Promise.all(looks.map((look) => look ? sideLook(look, []) : []))).flat();
      },
      progress: (progress) => {
        status.progress(progress);
        if (progress.state !== "gate") return;
        if (engine) void tell(engine.once());
        void bystanders?.look();
      },
    });
    // All that ends a run in good order, beside the end of its target; what ends it as a failure is thrown by `run`.
    const full = outputs.full.then(() => session!.tell({ fact: "note", text: "the run ended here, because its recording is full" }));
    const ends = [context.interrupted, tokens.reached, outputs.spent, full];
    const timing = learning?.isApplied ?? session.counting;
    const { duration } = options;
    const lasted = () => session!.lasts(duration!);
    if (duration !== undefined) ends.push(timing.then(lasted));
    // One that computes nothing would be learned from without end.
    if (duration !== undefined && learning) ends.push(session.counting.then(lasted).then(() => learning.isIdle ? undefined : new Promise(() => {})));
    const end = Promise.race(ends);
    overhead.follow(session, run.facts, timing, end);
    if (surroundings) tellEachSecond(session, means, end, () => surroundings.look(session!.pid));
    if (tracers) tellEachSecond(session, means, end, () => tracers.look());
    if (gpus) tellEachSecond(session, means, end, () => gpus.facts());
    if (found) void session.counting.then(() => tell(names()));
    if (bystanders) void session.counting.then(() => bystanders.look());
    if (engine) tellEachSecond(session, means, end, () => engine.look());
    if (options.snapshots) tellEachSecond(session, means, end, () => machineFacts(means, probes));
    if (called) tellEachSecond(session, means, end, () => called.look());
    const wall = isToldOf("wallClock") && new WatchedWallClock(() => session!.clock!);
    if (wall) tellEachSecond(session, means, end, () => Promise.resolve(wall.look()));
    await session.run(end).finally(() => gpus?.close());
    await checkSeen(profile, session, means, engine?.engine ?? null, run.facts);
  } catch (error) {
    if (session?.timeline) finish(session.timeline);
    else outputs.discard();
    // A Ctrl-C at the terminal reaches the program that we start, too.
    if (interrupted && !session?.timeline) return nothing(context);
    throw await whyGone(error, found && session?.pid, means);
  } finally {
    // Not with the rest of what was begun, which is later, nor behind the guard, which is waited for: at a second Ctrl-C nobody would, without it.
    means.symbols.remove();
    // Who throws an exception is stopped until the last probe is gone. Where a failure is the end, the guard outlives llmprof.
    if (!session?.mayStop) await guard.close();
  }
  if (!session.timeline) {
    outputs.discard();
    return nothing(context);
  }
  const code = finish(session.timeline);
  context.atKill(() => {});
  await Promise.all([session.ended(), overhead.ended()]);
  await guard.close();
  outputs.mustBeWhole();
  return code;
}

/** What probes of snapshots have to know of the machine. */
async function machineFacts({ files }: Means, probes: readonly Probe[]): Promise<Fact[]> {
  const wanted = new Set(probes.flatMap(({ facts = [] }) => facts));
  return [
    ...wanted.has("pressure") ? [{ fact: "pressure", pressure: await readPressure(files) } as const] : [],
    ...wanted.has("disks") ? [{ fact: "disks", disks: await readDisks(files) } as const] : [],
  ];
}

function nothing({ terminal }: Context): number {
  terminal.err("Nothing was traced: llmprof was ended before it counted.\n");
  return ExitCode.ok;
}

/** `program`: the file behind the name that was typed. */
async function launch(
  means: Means,
  options: TraceOptions,
  program: string,
  invoker: Invoker & { readonly underNohup: boolean },
  onPid: (pid: number) => void,
): Promise<Target> {
  const child = await launchStopped(means, {
    argv: options.program,
    ...invoker,
    // Standard output belongs to the summary when another program reads it.
    stdout: options.mute ? "null" : options.summary === "json" ? "stderr" : "inherit",
    onPid,
  });
  return { type: "launched", pid: child.pid, argv: options.program, child, program };
}

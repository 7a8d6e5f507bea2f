import { ExitCode, LlmprofError } from "../events/errors.ts";
import { startGuard } from "../machine/guard.ts";
import type { Means } from "../session/means.ts";
import { Session, type Target } from "../session/session.ts";
import { StatusLine } from "../session/status.ts";
import { targetEnded } from "../session/target_ended.ts";
import { TokenCount } from "../session/tokens.ts";
import { type Invoker, readInvoker } from "../target/invoker.ts";
import { launchStopped } from "../target/launch.ts";
import { readStat } from "../target/process.ts";
import { checkProgram } from "../target/program_path.ts";
import { callGate } from "../../probes/gate/call.ts";
import { mappingGate } from "../../probes/gate/mapping.ts";
import { checkTarget, findRunning, findTargetNow, isNamed, type TargetOptions } from "./find_target.ts";
import { hostFacts } from "./host_facts.ts";
import { mustTrace, readMeans } from "./means.ts";
import { checkOutputs } from "./output_checks.ts";
import { outputOwner, Outputs } from "./outputs.ts";
import { probeCatalogue } from "./probe_catalogue.ts";
import type { Profile } from "./profile.ts";
import { report, type ReportOptions } from "./report.ts";
import type { Context } from "./terminal.ts";
import { TraceRun } from "./trace_run.ts";

export interface TraceOptions extends TargetOptions, ReportOptions {
  readonly tree: boolean;
  readonly duration?: number;
  readonly tokens?: number;
  /** Paths; none with `--no-output`. */
  readonly outputs: readonly string[];
  readonly bufferPages: number;
  readonly bpftrace?: string;
  /** What the program prints is nobody's concern. */
  readonly mute?: boolean;
}

/** Runs a profile on a live target and returns the exit code. */
export async function trace<Result>(profile: Profile<Result>, options: TraceOptions, context: Context): Promise<number> {
  // Mistakes on the command line come first: nothing is opened, started or looked for on the machine before they are told.
  checkTarget(profile, options);
  const owner = outputOwner();
  checkOutputs(options.outputs, owner);
  const means = await readMeans(options.bpftrace);
  const invoker = await readInvoker(means.files, means.self);
  const status = new StatusLine(context.terminal, options.quiet);
  const launches = options.program.length > 0;
  const program = launches ? await checkProgram(means.files, options.program[0]!, invoker.environment.PATH, Deno.cwd()) : "";
  const waiting = () => options.quiet || context.terminal.err("Waiting for a process that matches. Ctrl-C ends.\n");
  const running = launches ? null : await findTargetNow(means, options, context, waiting);
  if (!launches && !running) return nothing(context);
  mustTrace(means, context, options.bpftrace);
  const outputs = await Outputs.prepare(options.outputs, owner);
  const guard = await startGuard("*/libllama.*");
  const tokens = new TokenCount(options.tokens);
  const run = new TraceRun(profile, outputs, (span) => tokens.span(span));
  let session: Session | undefined;
  try {
    const target = running ?? await launch(means, options, Deno.realPathSync(program), invoker, (pid) => guard.stopped(pid));
    session = new Session(means, {
      target,
      ...(options.wait && isNamed(options) && { again: () => findRunning(means, options, context, () => {}, "newest") }),
      tree: options.tree,
      probes: profile.probes,
      bufferPages: options.bufferPages,
      guard,
      mappingGate,
      callGate,
      patient: options.wait || profile.requires === undefined,
      find: probeCatalogue(profile.probes),
      header: {
        schemaVersion: 1,
        llmprof: context.version,
        command: profile.name,
        options: {},
        host: hostFacts(means.machine),
        bpftrace: { path: means.machine.bpftrace!.path, version: means.machine.bpftrace!.text.replace(/^bpftrace v/, "") },
      },
      open: (header) => run.open(header),
      onFact: (fact) => void run.facts.push(fact),
      progress: (progress) => status.progress(progress),
    });
    const ends = [context.interrupted, tokens.reached];
    if (options.duration !== undefined) ends.push(session.counting.then(() => means.sleep(options.duration!)));
    await session.run(Promise.race(ends));
    await checkSeen(profile, session, means);
  } catch (error) {
    if (session?.timeline) report(run.finish(session.timeline), options, context);
    else outputs.discard();
    throw await whyGone(error, running && session?.pid, means);
  } finally {
    await guard.close();
  }
  if (!session.timeline) {
    outputs.discard();
    return nothing(context);
  }
  const code = report(run.finish(session.timeline), options, context);
  await session.ended();
  return code;
}

function nothing({ terminal }: Context): number {
  terminal.err("Nothing was traced: it ended while it waited.\n");
  return ExitCode.ok;
}

/** A profile without the stream that it lives on is no profile. */
async function checkSeen(profile: Pick<Profile<unknown>, "requires">, session: Session, means: Means): Promise<void> {
  const { timeline, options: { target, again } } = session;
  const received = [...timeline?.tallies.values() ?? []].reduce((n, tally) => n + tally.received, 0);
  if (timeline && received === 0 && !again && target.type === "running" && await isGone(target.pid, means)) throw targetEnded(target.pid);
  if (!timeline || !profile.requires || session.attachedStreams.has(profile.requires.stream)) return;
  throw new LlmprofError(
    ExitCode.failed,
    `${profile.requires.what} was never seen in the target.`,
    "It ended, or was left, before it mapped the library.",
    "Check that this is the process that computes, and give it more time.",
  );
}

/** What fails because its target is gone is explained by that. */
async function whyGone(error: unknown, pid: number | undefined | null, means: Means): Promise<unknown> {
  return pid && await isGone(pid, means) ? targetEnded(pid, error) : error;
}

async function isGone(pid: number, { files }: Means): Promise<boolean> {
  const stat = await readStat(files, pid);
  return !stat || stat.state === "Z";
}

/** `program`: the file behind the name that was typed, links followed, as the kernel will name it. */
async function launch(
  means: Means,
  options: TraceOptions,
  program: string,
  invoker: Invoker,
  onPid: (pid: number) => void,
): Promise<Target> {
  const launched = await launchStopped(means, {
    argv: options.program,
    cwd: Deno.cwd(),
    ...invoker,
    // Standard output belongs to the summary when another program reads it.
    stdout: options.mute ? "null" : options.summary === "json" ? "stderr" : "inherit",
    onPid,
  });
  return { type: "launched", pid: launched.pid, argv: options.program, child: launched.child, program };
}

import process from "node:process";
import { ExitCode, LlmprofError } from "../events/errors.ts";
import { readCapabilities } from "../machine/capabilities.ts";
import { spawnChild } from "../machine/child.ts";
import { startGuard } from "../machine/guard.ts";
import { preflight } from "../machine/preflight.ts";
import { ReaderFiles } from "../machine/reader_files.ts";
import { findTarget, type Query } from "../target/discover.ts";
import { type Invoker, readInvoker } from "../target/invoker.ts";
import { launchStopped } from "../target/launch.ts";
import type { Means } from "../session/means.ts";
import { Session, type Target } from "../session/session.ts";
import { StatusLine } from "../session/status.ts";
import { TokenCount } from "../session/tokens.ts";
import { callGate } from "../../probes/gate/call.ts";
import { mappingGate } from "../../probes/gate/mapping.ts";
import { hostFacts } from "./host_facts.ts";
import { Outputs } from "./outputs.ts";
import type { Profile } from "./profile.ts";
import { probeCatalogue } from "./probe_catalogue.ts";
import { report } from "./report.ts";
import type { Context } from "./terminal.ts";
import { TraceRun } from "./trace_run.ts";

export interface TraceOptions {
  readonly pid?: number;
  readonly comm?: string;
  readonly match?: RegExp;
  readonly wait: boolean;
  readonly tree: boolean;
  readonly duration?: number;
  readonly tokens?: number;
  /** Paths; none with `--no-output`. */
  readonly outputs: readonly string[];
  readonly summary: "text" | "json";
  readonly maxLoss?: number;
  readonly bufferPages: number;
  readonly bpftrace?: string;
  readonly quiet: boolean;
  /** Program and arguments after `--`. */
  readonly program: readonly string[];
}

/** Runs a profile on a live target and returns the exit code. */
export async function trace<Result>(profile: Profile<Result>, options: TraceOptions, context: Context): Promise<number> {
  const means = await readMeans(options, context);
  const invoker = await readInvoker(means.files, means.self);
  const status = new StatusLine(context.terminal, options.quiet);
  // Before anything is opened or started: mistakes on the command line come first.
  const running = options.program.length > 0 ? null : await findRunning(means, profile, options);
  const outputs = await Outputs.prepare(options.outputs, invoker.user);
  const guard = await startGuard("*/lib*");
  const tokens = new TokenCount(options.tokens);
  const run = new TraceRun(profile, outputs, (span) => tokens.span(span));
  let session: Session | undefined;
  try {
    const target = running ?? await launch(means, options, invoker, (pid) => guard.stopped(pid));
    session = new Session(means, {
      target,
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
    if (profile.requires && session.timeline && !session.attachedStreams.includes(profile.requires.stream)) {
      throw new LlmprofError(
        ExitCode.failed,
        `${profile.requires.what} was never seen in the target.`,
        "It ended, or was left, before it mapped the library.",
        "Check that this is the process that computes, and give it more time.",
      );
    }
  } catch (error) {
    if (session?.timeline) report(run.finish(session.timeline), options, context);
    else outputs.discard();
    throw error;
  } finally {
    await guard.close();
  }
  if (!session.timeline) {
    outputs.discard();
    context.terminal.err("Nothing was traced: no inference process started.\n");
    return ExitCode.ok;
  }
  const code = report(run.finish(session.timeline), options, context);
  await session.ended();
  return code;
}

async function readMeans(options: TraceOptions, context: Context): Promise<Means> {
  const files = new ReaderFiles();
  const machine = await readCapabilities(files, { pid: process.pid, bpftrace: options.bpftrace });
  const [problem] = preflight(machine, context.argv);
  if (problem) throw problem;
  return {
    files,
    machine,
    spawn: spawnChild,
    // Unreferenced: a deadline that nobody waits for any more must not keep the process alive.
    sleep: (milliseconds) => new Promise((resolve) => Deno.unrefTimer(setTimeout(resolve, milliseconds))),
    monotonic: () => performance.now(),
    origin: performance.timeOrigin,
    self: process.pid,
  };
}

async function findRunning(means: Means, profile: Pick<Profile<unknown>, "name" | "waits">, options: TraceOptions): Promise<Target | null> {
  const { pid, comm, match } = options;
  const query: Query | null = pid !== undefined
    ? { by: "pid", pid }
    : comm !== undefined
    ? { by: "comm", comm }
    : match !== undefined
    ? { by: "match", pattern: match }
    : null;
  if (!query) {
    if (profile.waits) return { type: "next" };
    throw new LlmprofError(
      ExitCode.usage,
      `${profile.name} needs a target.`,
      "None was named.",
      `Name one: llmprof ${profile.name} --pid N, --comm NAME, --match REGEX, or: llmprof ${profile.name} -- program args…`,
    );
  }
  while (true) {
    try {
      const found = await findTarget(means.files, query, means.self);
      return { type: "running", pid: found.pid, argv: found.argv };
    } catch (error) {
      if (!options.wait || query.by === "pid" || !(error instanceof LlmprofError) || !error.what.startsWith("No process")) throw error;
      await means.sleep(500);
    }
  }
}

async function launch(means: Means, options: TraceOptions, invoker: Invoker, onPid: (pid: number) => void): Promise<Target> {
  const launched = await launchStopped(means, {
    argv: options.program,
    cwd: Deno.cwd(),
    ...invoker,
    // Standard output belongs to the summary when another program reads it.
    stdout: options.summary === "json" ? "stderr" : "inherit",
    onPid,
  });
  return { type: "launched", pid: launched.pid, argv: options.program, child: launched.child };
}

import type { Summary } from "../../lib/analysis/summary.ts";
import type { OperatorsResult } from "../../lib/analysis/operators_schema.ts";
import { start } from "../harness/command.ts";
import type { Site } from "../../lib/programs/library_sites.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import { bpftracesOf, row, until } from "../kernel/processes.ts";
import { type EngineSites, engineSites } from "./engine_sites.ts";
import type { Mode } from "./windows.ts";

/** A bpftrace is at work as soon as it is ready. */
const SETTLED_MS = 500;
/** In its first three to four seconds llmprof's own code is compiled, at 10 to 15 % of a CPU. */
export const COMPILED_MS = 5000;

/** bpftrace beside the engine, without a probe in it. */
export function control(bpftrace: string, pairs: number): Mode {
  return { name: "control", pairs, settleMs: SETTLED_MS, attach: () => plain(bpftrace, "interval:ms:100 { print(1); }") };
}

/** The trap at every operator of the process, and a count. */
export function counting(bpftrace: string, pairs: number): Mode {
  return ofProcess("counting", bpftrace, pairs, ({ operator }, pid) => `${operator.attach} /pid == ${pid}/ { @n = count(); }`);
}

/**
 * The traps at all of llmprof's sites, a count and the shortest line for each of them, into a buffer that nobody reads: the least that bpftrace
 * can take for telling when each operator, graph and call begins and ends. What is beyond that is llmprof's.
 */
export function leastLines(bpftrace: string, pairs: number): Mode {
  const block = ({ attach }: Site, pid: number) => {
    const tensor = attach.startsWith("uprobe") ? "arg1" : "0";
    return `${attach} /pid == ${pid}/ { @n = count(); printf("%llu %llu %llu\\n", nsecs, tid, ${tensor}); }`;
  };
  return ofProcess("least", bpftrace, pairs, ({ all }, pid) => all.map((site) => block(site, pid)).join("\n"), true);
}

function ofProcess(name: string, bpftrace: string, pairs: number, text: (sites: EngineSites, pid: number) => string, unread = false): Mode {
  return {
    name,
    pairs,
    settleMs: SETTLED_MS,
    async attach(pid) {
      using sites = await engineSites(bpftrace, pid);
      return await plain(bpftrace, `${text(sites, pid)} interval:ms:100 { print(@n); }`, unread, sites.environment);
    },
  };
}

async function plain(
  bpftrace: string,
  program: string,
  unread = false,
  environment: Readonly<Record<string, string>> = {},
): Promise<() => Promise<void>> {
  const env = { BPFTRACE_PERF_RB_PAGES: "4096", ...environment };
  const running = start([bpftrace, "-q", "-e", `BEGIN { printf("ready\\n"); } ${program}`], { env, timeoutMilliseconds: 600_000 });
  await running.saw("ready");
  if (unread) running.kill("SIGSTOP");
  return async () => {
    running.kill("SIGCONT");
    running.kill("SIGINT");
    await running.finished();
  };
}

/** What the runs of llmprof said of themselves. */
export interface TimelineRuns {
  emitted: number;
  lost: number;
  /** Operator starts of one token. */
  operatorsPerToken: number;
}

/** llmprof as a user starts it, writing a trace. */
export function timeline(bpftrace: string, pairs: number, runs: TimelineRuns): Mode {
  return tracing("timeline", bpftrace, pairs, "run.pftrace", ({ events, result }) => {
    runs.emitted += events.emitted;
    runs.lost += events.lost;
    runs.operatorsPerToken = result.workers.reduce((sum, { calls }) => sum + calls, 0) / result.graphs.count;
  });
}

/** llmprof with those options, which see less, less often, or no more than may be. */
export function limited(name: string, flags: readonly string[], bpftrace: string, pairs: number, runs: TimelineRuns): Mode {
  return tracing(name, bpftrace, pairs, "run.pftrace", ({ events }) => {
    runs.emitted += events.emitted;
    runs.lost += events.lost;
  }, flags);
}

/** llmprof as a user starts it, with a file to write or none; after each window `told` is given what it said. */
export function tracing(
  name: string,
  bpftrace: string,
  pairs: number,
  output: string | null,
  told: (summary: Summary<OperatorsResult>) => void,
  flags: readonly string[] = [],
): Mode {
  return {
    name,
    pairs,
    settleMs: COMPILED_MS,
    async attach(pid) {
      const folder = temporary();
      const written = output === null ? ["--no-output"] : ["-o", folder.file(output)];
      const command = [...llmprof, "operators", "--bpftrace", bpftrace, "--pid", String(pid), ...written, ...flags, "--summary", "json"];
      const running = start(command, { timeoutMilliseconds: 600_000 });
      await running.saw("Tracing");
      return async () => {
        const children = bpftracesOf(running.pid);
        running.kill("SIGINT");
        const { stdout } = await running.succeeded();
        folder[Symbol.dispose]();
        told(JSON.parse(stdout));
        await until("its bpftraces have detached", () => children.every((child) => row(child) === undefined));
      };
    },
  };
}

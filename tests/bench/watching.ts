/** What a program costs that others watch: the same work with nothing, under llmprof, and under other tools, in turns. */
import type { Bpftrace } from "../harness/bpftraces.ts";
import { mustRun, start } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import { endTool, startTool } from "../independent/libbpf_tools.ts";
import { libbpfTools } from "../setup/libbpf_tools.ts";
import { setUp } from "../setup/setup.ts";
import { judged } from "./judged.ts";
import { middle } from "./statistics.ts";

/** Watches a process, and what it starts, until it is ended; says what it has to say. */
export type Watch = (pid: number) => Promise<{ end(): Promise<string> }>;

export const nothing: Watch = () => Promise.resolve({ end: () => Promise.resolve("") });

/** `whom`: the process alone, or all of the machine. */
export function ours(bpftrace: Bpftrace, command: string, flags: readonly string[], whom: "target" | "all" = "target"): Watch {
  return async (pid) => {
    const target = whom === "all" ? ["--all"] : ["--pid", String(pid)];
    const running = start([...llmprof, command, "--bpftrace", bpftrace.path, ...target, ...flags], { timeoutMilliseconds: 120_000 });
    await running.saw("Tracing");
    return {
      async end() {
        running.kill("SIGINT");
        return /Warning.*/.exec((await running.finished()).stderr)?.[0] ?? "";
      },
    };
  };
}

/** A program that prints "ready" when it begins, for that process. */
export function program(bpftrace: Bpftrace, textFor: (pid: number) => string): Watch {
  return async (pid) => {
    const running = start([bpftrace.path, "-q", "-e", textFor(pid)], { timeoutMilliseconds: 120_000 });
    await running.saw("ready");
    return {
      async end() {
        running.kill("SIGINT");
        await running.finished();
        return "";
      },
    };
  };
}

/** Programs of libbpf-tools, which watch the whole machine. */
export async function peers(...programs: readonly string[]): Promise<Watch> {
  await setUp(libbpfTools);
  return async () => {
    const tools = await Promise.all(programs.map((name) => startTool(name)));
    return {
      async end() {
        await Promise.all(tools.map(endTool));
        return "";
      },
    };
  };
}

/** What the first of two may add to a step at most, as so many times what the second adds. */
export interface Limit {
  readonly of: string;
  readonly times: number;
  readonly as: string;
}

/**
 * Does `work` so often under each, and prints nanoseconds for each of its steps, each against the run with nothing of its round, and the `limits`; the exit
 * code is 1 where one is not held. `work`: a shell's command, and how long a step took by what it said and by the CPU time that the kernel's own threads used
 * meanwhile. In a last round the kernel times the programs that watch (`steps`: how many the work had). Returns nanoseconds of a step under each.
 */
export async function compare(
  watches: Readonly<Record<string, Watch>>,
  rounds: number,
  work: {
    readonly command: string;
    readonly step: string;
    readonly steps: (stdout: string) => number;
    readonly nanoseconds: (stdout: string, kernelNs: number) => number;
  },
  limits: readonly Limit[] = [],
): Promise<ReadonlyMap<string, number>> {
  using folder = temporary();
  const times = new Map<string, number[]>(Object.keys(watches).map((name) => [name, []]));
  const said = new Set<string>();
  const under = async (name: string, watch: Watch): Promise<{ ns: number; inPrograms: number }> => {
    const go = folder.file(`go-${crypto.randomUUID()}`);
    await using shell = start(["sh", "-c", `while [ ! -e "${go}" ]; do sleep 0.05; done; exec ${work.command}`], { timeoutMilliseconds: 120_000 });
    const watching = await watch(shell.pid);
    const before = kernelThreads(), programsBefore = await programsNs();
    Deno.writeTextFileSync(go, "");
    const { stdout } = await shell.succeeded();
    let kernelNs = 0;
    for (const [pid, ns] of kernelThreads()) kernelNs += ns - (before.get(pid) ?? 0);
    const inPrograms = (await programsNs() - programsBefore) / work.steps(stdout);
    const told = await watching.end();
    if (told) said.add(`${name}: ${told}`);
    return { ns: work.nanoseconds(stdout, kernelNs), inPrograms };
  };
  for (let round = 0; round < rounds; round++) {
    for (const [name, watch] of Object.entries(watches)) times.get(name)!.push((await under(name, watch)).ns);
    console.error(`${round + 1} of ${rounds} rounds`);
  }
  const inPrograms = new Map<string, number>();
  await mustRun(["sysctl", "-q", "kernel.bpf_stats_enabled=1"]);
  try {
    for (const [name, watch] of Object.entries(watches)) inPrograms.set(name, (await under(name, watch)).inPrograms);
  } finally {
    await mustRun(["sysctl", "-q", "kernel.bpf_stats_enabled=0"]);
  }
  const base = times.get("nothing")!;
  const added = (name: string) => times.get(name)!.map((ns, round) => ns - base[round]!);
  const medians = new Map([...times].map(([name, all]) => [name, middle(all).median]));
  console.table(Object.fromEntries([...medians].map(([name, ns]) => {
    const { median, low, high } = middle(added(name));
    return [name, {
      [`ns ${work.step}`]: Math.round(ns),
      "more than nothing": Math.round(median),
      "95 %": `${Math.round(low)} to ${Math.round(high)}`,
      "in programs": Math.round(inPrograms.get(name)!),
    }];
  })));
  for (const line of said) console.log(line);
  for (const { of, times, as } of limits) {
    const theirs = added(as);
    // Where the other adds nothing, no number of times is enough.
    const { median, low, high } = middle(added(of).map((ns, round) => theirs[round]! > 0 ? ns / theirs[round]! : Infinity));
    const told = `${median.toFixed(2)} times as much as ${as} (95 %: ${low.toFixed(2)} to ${high.toFixed(2)})`;
    console.log(judged(`${of} adds ${told}, at most ${times}`, median <= times));
  }
  return medians;
}

/** CPU time of each thread of the kernel's own, in nanoseconds. */
function kernelThreads(): Map<string, number> {
  const threads = new Map<string, number>();
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // A process whose memory is gone has no command line, too; it is no long one.
      if (Deno.readTextFileSync(`/proc/${name}/cmdline`) === "") {
        threads.set(name, Number(Deno.readTextFileSync(`/proc/${name}/schedstat`).split(" ")[0]));
      }
    } catch {
      // It has ended.
    }
  }
  return threads;
}

/** How long the machine's BPF programs have run since they were loaded, as far as the kernel took the time. */
async function programsNs(): Promise<number> {
  const programs: { run_time_ns?: number }[] = JSON.parse((await mustRun(["bpftool", "-j", "prog", "show"])).stdout);
  return programs.reduce((sum, { run_time_ns = 0 }) => sum + run_time_ns, 0);
}

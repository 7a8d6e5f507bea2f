/** What a program costs that others watch: the same work with nothing, under llmprof, and under other tools, in turns. */
import type { Bpftrace } from "../harness/bpftraces.ts";
import { mustRun, start } from "../harness/command.ts";
import { FolderFiles } from "../harness/folder_files.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import { endTool, startTool } from "../independent/libbpf_tools.ts";
import { libbpfTools } from "../setup/libbpf_tools.ts";
import { setUp } from "../setup/setup.ts";
import { listPids, readProcesses, treeOf } from "../../lib/target/process.ts";
import { judged } from "./judged.ts";
import { differences, middle, timesAsMuch } from "./statistics.ts";

/** Watches a process, and what it starts, until it is ended; says what it has to say. `pids`: of the processes that watch. */
export type Watch = (pid: number) => Promise<{ readonly pids: readonly number[]; end(): Promise<string> }>;

export const nothing: Watch = () => Promise.resolve({ pids: [], end: () => Promise.resolve("") });

/** `whom`: the process alone, or all of the machine. */
export function ours(bpftrace: Bpftrace, command: string, flags: readonly string[], whom: "target" | "all" = "target"): Watch {
  return async (pid) => {
    const target = whom === "all" ? ["--all"] : ["--pid", String(pid)];
    const running = start([...llmprof, command, "--bpftrace", bpftrace.path, ...target, ...flags], { timeoutMilliseconds: 120_000 });
    await running.saw("Tracing");
    return {
      pids: [running.pid],
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
      pids: [running.pid],
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
      pids: tools.map(({ pid }) => pid),
      async end() {
        await Promise.all(tools.map(endTool));
        return "";
      },
    };
  };
}

/**
 * What the first of two may add to a step at most, as so many times what the second adds. `alike`: both stand in the kernel in the same way, so that what
 * their programs take while both watch the same steps can be compared, too. Neighbours that make a machine slow do so to both.
 */
export interface Limit {
  readonly of: string;
  readonly times: number;
  readonly as: string;
  readonly alike?: true;
}

/**
 * Does `work` so often under each, and prints nanoseconds for each of its steps, each against the run with nothing of its round, and the `limits`; the exit
 * code is 1 where one is not held, 2 where that cannot be told. `work`: a shell's command, and how long a step took by what it said and by the CPU time that
 * the kernel's own threads used meanwhile. In a last round the kernel times the programs that watch (`steps`: how many the work had). Returns nanoseconds of
 * a step under each, of every round.
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
): Promise<ReadonlyMap<string, readonly number[]>> {
  using folder = temporary();
  const times = new Map<string, number[]>(Object.keys(watches).map((name) => [name, []]));
  const said = new Set<string>();
  const under = async (...names: readonly string[]): Promise<{ ns: number; inPrograms: number[] }> => {
    const go = folder.file(`go-${crypto.randomUUID()}`);
    await using shell = start(["sh", "-c", `while [ ! -e "${go}" ]; do sleep 0.05; done; exec ${work.command}`], { timeoutMilliseconds: 120_000 });
    const watching: Awaited<ReturnType<Watch>>[] = [];
    for (const name of names) watching.push(await watches[name]!(shell.pid));
    const programs = async () => await Promise.all(watching.map(({ pids }) => programsNs(pids)));
    const before = await kernelThreads(), programsBefore = await programs();
    Deno.writeTextFileSync(go, "");
    const { stdout } = await shell.succeeded();
    let kernelNs = 0;
    for (const [pid, ns] of await kernelThreads()) kernelNs += ns - (before.get(pid) ?? 0);
    const inPrograms = (await programs()).map((ns, i) => (ns - programsBefore[i]!) / work.steps(stdout));
    for (const [i, watch] of watching.entries()) {
      const told = await watch.end();
      if (told) said.add(`${names[i]}: ${told}`);
    }
    return { ns: work.nanoseconds(stdout, kernelNs), inPrograms };
  };
  for (let round = 0; round < rounds; round++) {
    for (const name of times.keys()) times.get(name)!.push((await under(name)).ns);
    console.error(`${round + 1} of ${rounds} rounds`);
  }
  const inPrograms = new Map<string, number>(), sideBySide = new Map<Limit, { readonly ours: number[]; readonly theirs: number[] }>();
  await mustRun(["sysctl", "-q", "kernel.bpf_stats_enabled=1"]);
  try {
    for (const name of times.keys()) inPrograms.set(name, (await under(name)).inPrograms[0] ?? 0);
    for (const limit of limits.filter(({ alike }) => alike)) {
      const ours: number[] = [], theirs: number[] = [];
      for (let round = 0; round < rounds; round++) {
        // Who comes second finds in the processor's cache what the first one read.
        const names = round % 2 === 0 ? [limit.of, limit.as] : [limit.as, limit.of], ns = (await under(...names)).inPrograms;
        ours.push(ns[names.indexOf(limit.of)]!);
        theirs.push(ns[names.indexOf(limit.as)]!);
      }
      sideBySide.set(limit, { ours, theirs });
    }
  } finally {
    await mustRun(["sysctl", "-q", "kernel.bpf_stats_enabled=0"]);
  }
  const base = times.get("nothing")!;
  const added = (name: string) => times.get(name)!.map((ns, round) => ns - base[round]!);
  console.table(Object.fromEntries([...times].map(([name, all]) => {
    const { median, low, high } = differences(all, base);
    return [name, {
      [`ns ${work.step}`]: Math.round(middle(all).median),
      "more than nothing": Math.round(median),
      "95 %": `${Math.round(low)} to ${Math.round(high)}`,
      "in programs": Math.round(inPrograms.get(name)!),
    }];
  })));
  for (const line of said) console.log(line);
  for (const limit of limits) {
    const { of, times: most, as } = limit;
    const judge = (ours: readonly number[], theirs: readonly number[], adds: string) => {
      const { times: { median, low, high }, isMet } = timesAsMuch(ours, theirs, most);
      const told = `${median.toFixed(2)} times as much as ${as} (95 %: ${low.toFixed(2)} to ${high.toFixed(2)})`;
      console.log(judged(`${of} ${adds} ${told}, at most ${most}`, isMet));
    };
    judge(added(of), added(as), "adds");
    const beside = sideBySide.get(limit);
    if (beside) judge(beside.ours, beside.theirs, "takes in its programs, side by side,");
  }
  return times;
}

const machine = new FolderFiles("");

/** CPU time of each thread of the kernel's own, in nanoseconds. */
async function kernelThreads(): Promise<Map<number, number>> {
  const threads = new Map<number, number>();
  for (const pid of await listPids(machine)) {
    // A process whose memory is gone has no command line, too; it is no long one.
    const [command, account] = await machine.texts(["cmdline", "schedstat"].map((file) => `/proc/${pid}/${file}`));
    if (command === "" && account !== null) threads.set(pid, Number(account!.split(" ")[0]));
  }
  return threads;
}

/** How long the BPF programs of these processes, and of what they started, have run, as far as the kernel took the time. */
async function programsNs(pids: readonly number[]): Promise<number> {
  const processes = await readProcesses(machine), programs = new Map<string, number>();
  for (const pid of pids.flatMap((pid) => treeOf(processes, pid))) {
    const folder = `/proc/${pid}/fdinfo`, descriptors = await machine.list(folder);
    for (const text of await machine.texts(descriptors.map((name) => `${folder}/${name}`))) {
      const [, id, ns] = /^prog_id:\t(\d+)\nrun_time_ns:\t(\d+)$/m.exec(text ?? "") ?? [];
      if (id !== undefined) programs.set(id, Number(ns));
    }
  }
  return [...programs.values()].reduce((sum, ns) => sum + ns, 0);
}

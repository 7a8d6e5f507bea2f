/** What a program costs that others watch: the same work with nothing, under llmprof, and under other tools, in turns. */
import type { Bpftrace } from "../harness/bpftraces.ts";
import { start } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import { endTool, startTool } from "../independent/libbpf_tools.ts";
import { libbpfTools } from "../setup/libbpf_tools.ts";
import { setUp } from "../setup/setup.ts";
import { middle } from "./statistics.ts";

/** Watches a process, and what it starts, until it is ended; says what it has to say. */
export type Watch = (pid: number) => Promise<{ end(): Promise<string> }>;

export const nothing: Watch = () => Promise.resolve({ end: () => Promise.resolve("") });

export function ours(bpftrace: Bpftrace, command: string, flags: readonly string[]): Watch {
  return async (pid) => {
    const running = start([...llmprof, command, "--bpftrace", bpftrace.path, "--pid", String(pid), ...flags], { timeoutMilliseconds: 120_000 });
    await running.saw("Tracing");
    return {
      async end() {
        running.kill("SIGINT");
        return /Warning.*/.exec((await running.finished()).stderr)?.[0] ?? "";
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

/** Does `work` so often under each, and prints nanoseconds for each of its steps. `work`: a shell's command, and how long a step took by what it said. */
export async function compare(
  watches: Readonly<Record<string, Watch>>,
  rounds: number,
  work: { readonly command: string; readonly step: string; readonly nanoseconds: (stdout: string) => number },
): Promise<void> {
  using folder = temporary();
  const times = new Map<string, number[]>(Object.keys(watches).map((name) => [name, []]));
  const said = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    for (const [name, watch] of Object.entries(watches)) {
      const go = folder.file(`go-${round}-${name.replaceAll(" ", "-")}`);
      await using shell = start(["sh", "-c", `while [ ! -e "${go}" ]; do sleep 0.05; done; exec ${work.command}`], { timeoutMilliseconds: 120_000 });
      const watching = await watch(shell.pid);
      Deno.writeTextFileSync(go, "");
      const { stdout } = await shell.succeeded();
      times.get(name)!.push(work.nanoseconds(stdout));
      const told = await watching.end();
      if (told) said.add(`${name}: ${told}`);
    }
    console.error(`${round + 1} of ${rounds} rounds`);
  }
  const base = middle(times.get("nothing")!).median;
  console.table(Object.fromEntries([...times].map(([name, all]) => {
    const { median } = middle(all);
    return [name, {
      [`ns ${work.step}`]: Math.round(median),
      "more than nothing": Math.round(median - base),
      times: Number((median / base).toFixed(3)),
    }];
  })));
  for (const line of said) console.log(line);
}

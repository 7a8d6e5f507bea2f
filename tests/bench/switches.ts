/**
 * What it costs to watch every switch: two processes pass a byte through pipes on one processor, some hundred thousand switches a second, with nothing,
 * under `llmprof sched`, under `llmprof sched --snapshots`, and under libbpf-tools' runqlat and offcputime together, in turns.
 *
 *     deno run -A tests/bench/switches.ts [--rounds 9] [--bpftrace 0.23]
 *
 * Prints nanoseconds that each adds to a switch, and what llmprof received of what it saw.
 */
import { parseArgs } from "node:util";
import { bpftraces } from "../harness/bpftraces.ts";
import { type Running, start } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import { temporary } from "../harness/temporary.ts";
import { install } from "../setup/install.ts";
import { built } from "../setup/programs.ts";
import { findProgram } from "../harness/find_program.ts";
import { middle } from "./statistics.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "9" }, bpftrace: { type: "string", default: "0.23" } } });
const bpftrace = bpftraces().find(({ name }) => name === values.bpftrace);
if (!bpftrace) throw new Error(`No bpftrace ${values.bpftrace} is here.`);
if (!findProgram("runqlat") && !findProgram("/usr/sbin/runqlat")) await install(["libbpf-tools"]);

/** Two switches each. */
const PASSES = 300_000;
using folder = temporary();

/** Watches a shell, and what it starts, until it is ended. */
type Watch = (pid: number) => Promise<{ end(): Promise<string> }>;

const nothing: Watch = () => Promise.resolve({ end: () => Promise.resolve("") });

function ours(...flags: readonly string[]): Watch {
  return async (pid) => {
    const running = start([...llmprof, "sched", "--bpftrace", bpftrace!.path, "--pid", String(pid), ...flags], { timeoutMilliseconds: 120_000 });
    await running.saw("Tracing");
    return {
      async end() {
        running.kill("SIGINT");
        const { stderr } = await running.finished();
        return /Warning.*/.exec(stderr)?.[0] ?? "";
      },
    };
  };
}

const peers: Watch = async () => {
  const running = [["runqlat"], ["offcputime"]].map((words) =>
    start(words, { timeoutMilliseconds: 120_000, env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" } })
  );
  await new Promise((resolve) => setTimeout(resolve, 2000));
  return {
    async end() {
      for (const one of running) one.kill("SIGINT");
      await Promise.all(running.map((one: Running) => one.finished()));
      return "";
    },
  };
};

const watches: Readonly<Record<string, Watch>> = {
  nothing,
  sched: ours("--no-output"),
  "sched --snapshots": ours("--snapshots", folder.file("snapshots.jsonl")),
  "runqlat and offcputime": peers,
};

const times = new Map<string, number[]>(Object.keys(watches).map((name) => [name, []]));
const said = new Set<string>();
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [name, watch] of Object.entries(watches)) {
    const go = folder.file(`go-${round}-${name.replaceAll(" ", "-")}`);
    const script = `while [ ! -e "${go}" ]; do sleep 0.05; done; exec ${built.pipes} 1 ${PASSES}`;
    await using shell = start(["sh", "-c", script], { timeoutMilliseconds: 120_000 });
    const watching = await watch(shell.pid);
    Deno.writeTextFileSync(go, "");
    const { stdout } = await shell.succeeded();
    times.get(name)!.push(Number(stdout) / 2);
    const told = await watching.end();
    if (told) said.add(`${name}: ${told}`);
  }
  console.error(`${round + 1} of ${values.rounds} rounds`);
}
const base = middle(times.get("nothing")!).median;
console.table(Object.fromEntries([...times].map(([name, all]) => {
  const { median } = middle(all);
  return [name, { "ns a switch": Math.round(median), "more than nothing": Math.round(median - base), times: Number((median / base).toFixed(3)) }];
})));
for (const line of said) console.log(line);

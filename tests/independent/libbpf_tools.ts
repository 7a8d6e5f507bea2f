import { setTimeout as pause } from "node:timers/promises";
import { type Running, start } from "../harness/command.ts";
import { findProgram } from "../harness/find_program.ts";

/** Starts a program of libbpf-tools, and returns when its probes are attached: it says nothing of them, but its descriptors do. */
export async function startTool(name: string, ...flags: readonly string[]): Promise<Running> {
  const tool = start([findProgram(name) ?? name, ...flags], { timeoutMilliseconds: 120_000 });
  for (let seen = 0, still = 0; still < 5;) {
    await pause(100);
    const now = attachedTo(tool.pid);
    still = now > 0 && now === seen ? still + 1 : 0;
    seen = now;
  }
  return tool;
}

/** What a tool has to say when it is told to end. */
export async function endTool(tool: Running): Promise<string> {
  tool.kill("SIGINT");
  return (await tool.finished()).stdout;
}

function attachedTo(pid: number): number {
  const fds = `/proc/${pid}/fd`;
  return [...Deno.readDirSync(fds)].filter(({ name }) => {
    try {
      return /bpf_link|perf_event/.test(Deno.readLinkSync(`${fds}/${name}`));
    } catch {
      // Closed in the meantime.
      return false;
    }
  }).length;
}

/** A row of a tool's histogram: so many values from `low` to `high`. */
export interface Bucket {
  readonly low: number;
  readonly high: number;
  readonly count: number;
}

/** The histogram below a heading, of microseconds. */
export function histogramOf(said: string, heading: RegExp): Bucket[] {
  const section = said.split(/\n(?=disk = |tid = )/).find((text) => heading.test(text)) ?? "";
  return [...section.matchAll(/^\s*(\d+) -> (\d+)\s*: (\d+)/gm)].map(([, low, high, count]) => ({
    low: Number(low),
    high: Number(high),
    count: Number(count),
  }));
}

/** What offcputime says of a thread, by all of its stacks: microseconds. */
export function offCpuOf(said: string, tid: number): number {
  return [...said.matchAll(/^\s+-\s+.*\((\d+)\)\n\s+(\d+)$/gm)].reduce((sum, [, of, us]) => Number(of) === tid ? sum + Number(us) : sum, 0);
}

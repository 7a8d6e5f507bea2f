/**
 * What it costs a PyTorch process to be traced: llmprof, which times each call of an operator, beside bpftrace with a probe on each operator, which
 * counts them, and with two on each, which print how long they took. On a GPU (--device cuda): under `gpu`, with and without the calls that only ask how
 * things stand, and under `operators`.
 *
 *     deno run -A tests/setup/setup.ts torch && deno run -A tests/bench/torch.ts [--windows 10] [--width 256] [--bpftrace 0.23] [--python /usr/bin/python3]
 *     deno run -A tests/bench/torch.ts --device cuda --python python3
 *
 * One process; windows of three seconds in turns, each beside two in which nothing is attached. CPU time of a pass through the model, by that without.
 */
import { setTimeout as pause } from "node:timers/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Summary } from "../../lib/analysis/summary.ts";
import { parseMaps } from "../../lib/target/maps.ts";
import { bpftraceNamed } from "../harness/bpftraces.ts";
import { type Running, start } from "../harness/command.ts";
import { llmprof } from "../harness/llmprof.ts";
import { top } from "../harness/places.ts";
import { bootNow } from "../kernel/boot_clock.ts";
import { debianPython } from "../setup/torch.ts";
import { middle } from "./statistics.ts";

const WINDOW_MS = 3000, SETTLE_MS = 1000, LIMIT_MS = 3_600_000;

const { values } = parseArgs({
  options: {
    windows: { type: "string", default: "10" },
    width: { type: "string", default: "256" },
    bpftrace: { type: "string", default: "0.23" },
    python: { type: "string", default: debianPython },
    device: { type: "string", default: "cpu" },
  },
});
const bpftrace = bpftraceNamed(values.bpftrace).path;

await using net = start([values.python, join(top, "tests/bench/torch_forwards.py"), values.width, values.device], { timeoutMilliseconds: LIMIT_MS });
await net.saw(/^\d+ 100 /m);
interface Tool {
  readonly argv: readonly string[];
  /** Printed when it is attached. */
  readonly attached: string;
}

const library = parseMaps(Deno.readTextFileSync(`/proc/${net.pid}/maps`)).find(({ path }) => /\/libtorch_cpu[^/]*$/.test(path))!.path;
const each = `${library}:_ZN2at4_ops*4callE*`, its = `/pid == ${net.pid}/`;
const ours = (...words: readonly string[]): Tool => ({
  argv: [...llmprof, ...words, "--bpftrace", bpftrace, "--pid", String(net.pid), "--no-output", "--summary", "json"],
  attached: "Tracing process",
});
const onGpu = { "gpu": ours("gpu"), "gpu --every-call": ours("gpu", "--every-call"), "operators": ours("operators") };
const tools: Readonly<Record<string, Tool>> = values.device === "cuda" ? onGpu : {
  llmprof: ours("operators"),
  "all, counted": plain(`uprobe:${each} ${its} { @[func] = count(); }`),
  "all, printed": plain(
    `uprobe:${each} ${its} { @open[tid, reg("sp")] = (nsecs, reg("ip")); }`,
    `uretprobe:${each} ${its} { $o = @open[tid, reg("sp") - 8]; if ($o.0 > 0) { printf("%d %llu %llu %llu\\n", tid, $o.1, $o.0, nsecs); } }`,
  ),
};

/** A program that a person would write, without what llmprof does to make it cheap. */
function plain(...blocks: readonly string[]): Tool {
  const script = `BEGIN { printf("ready\\n"); } ${blocks.join(" ")}`;
  return { argv: [bpftrace, "-e", script], attached: "ready" };
}

/** From and to, by the clock that passes are told by. */
type Window = readonly [from: bigint, to: bigint];

async function window(): Promise<Window> {
  await pause(SETTLE_MS);
  const from = bootNow();
  await pause(WINDOW_MS);
  return [from, bootNow()];
}

const seen: { readonly tool: string; readonly windows: readonly [Window, Window, Window]; readonly events?: Summary<unknown>["events"] }[] = [];
let before = await window();
for (let i = 0; i < Number(values.windows); i++) {
  for (const [tool, { argv, attached }] of Object.entries(tools)) {
    await using running: Running = start(argv, { timeoutMilliseconds: LIMIT_MS });
    await running.saw(attached);
    const traced = await window();
    running.kill("SIGINT");
    const { stdout } = await running.finished();
    const behind = await window();
    const told = stdout.startsWith("{") && { events: JSON.parse(stdout).events };
    seen.push({ tool, windows: [before, traced, behind], ...told });
    before = behind;
  }
}
net.kill("SIGTERM");
const { stdout } = await net.finished();
const told = stdout.trim().split("\n").slice(0, -1).map((line) => line.split(" ").map(BigInt) as [bigint, bigint, bigint]);

/** CPU milliseconds of a pass. */
function cost([from, to]: Window): number {
  const inside = told.filter(([at]) => at >= from && at <= to);
  const [first, last] = [inside[0]!, inside.at(-1)!];
  return Number(last[2] - first[2]) / Number(last[1] - first[1]) / 1e6;
}

console.log(
  `bpftrace ${values.bpftrace}, width ${values.width}: ${middle(seen.map(({ windows }) => cost(windows[0]))).median.toFixed(2)} ms CPU a pass`,
);
for (const name of Object.keys(tools)) {
  const ratios = seen.filter(({ tool }) => tool === name).map(({ windows: [before, traced, behind] }) =>
    2 * cost(traced) / (cost(before) + cost(behind))
  );
  const { median, low, high, count } = middle(ratios);
  const events = seen.flatMap(({ tool, events }) => tool === name && events ? [events] : []);
  const sum = (of: "emitted" | "lost") => events.reduce((all, event) => all + event[of], 0);
  const kept = events.length > 0 ? `; ${sum("lost")} of ${sum("emitted")} events lost` : "";
  console.log(`  ${name.padEnd(16)} × ${median.toFixed(3)} (95 %: ${low.toFixed(3)} to ${high.toFixed(3)}, ${count} windows)${kept}`);
}

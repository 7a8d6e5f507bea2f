/**
 * What it costs to watch every switch: two processes pass a byte through pipes on one processor, some hundred thousand switches a second, with nothing,
 * under `llmprof sched`, under `llmprof sched --snapshots`, and under libbpf-tools' runqlat, offcputime, and both, in turns.
 *
 *     deno run -A tests/bench/switches.ts [--rounds 9] [--bpftrace 0.23]
 *
 * Prints nanoseconds that each adds to a switch, and what llmprof received of what it saw; ends with 1 where `sched --snapshots` adds more than one and a
 * half times what runqlat does, or `sched` more than twice what runqlat and offcputime do together.
 */
import { parseArgs } from "node:util";
import { bpftraceNamed } from "../harness/bpftraces.ts";
import { temporary } from "../harness/temporary.ts";
import { built } from "../setup/programs.ts";
import { compare, nothing, ours, peers } from "./watching.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "9" }, bpftrace: { type: "string", default: "0.23" } } });
const bpftrace = bpftraceNamed(values.bpftrace);

/** Two switches each. */
const PASSES = 300_000;
using folder = temporary();
const watches = {
  nothing,
  sched: ours(bpftrace, "sched", ["--no-output"]),
  "sched --snapshots": ours(bpftrace, "sched", ["--snapshots", folder.file("snapshots.jsonl")]),
  runqlat: await peers("runqlat"),
  offcputime: await peers("offcputime"),
  "runqlat and offcputime": await peers("runqlat", "offcputime"),
};
await compare(watches, Number(values.rounds), {
  command: `${built.pipes} 1 ${PASSES}`,
  step: "a switch",
  steps: () => 2 * PASSES,
  nanoseconds: (stdout) => Number(stdout) / 2,
}, [
  { of: "sched --snapshots", times: 1.5, as: "runqlat" },
  { of: "sched", times: 2, as: "runqlat and offcputime" },
]);

/**
 * What it costs to watch every request to a disk: fio reads from a loop device over memory, as fast as it can, with nothing, under `llmprof io`, under
 * `llmprof io --snapshots` of fio and of everybody, and under libbpf-tools' biolatency, in turns.
 *
 *     deno run -A tests/bench/requests.ts [--rounds 9] [--bpftrace 0.23] [--depth 1]
 *
 * Prints nanoseconds of CPU time that each adds to a request, of fio's thread and of the kernel's that answer it, and what llmprof received of what it saw;
 * ends with 1 where `io --snapshots --all` adds more than one and a half times what biolatency does, which tells the same; where both stand at raw
 * tracepoints, their programs' time in the same runs is judged, too. Ends with 2 where biolatency adds nothing that can be told from what this machine does
 * besides. (How long a request takes says less: a virtual processor that waits for an answer sleeps, and what keeps it awake makes requests faster.)
 */
import { parseArgs } from "node:util";
import { bpftraceNamed } from "../harness/bpftraces.ts";
import { temporary } from "../harness/temporary.ts";
import { hasRawTracepoints } from "../independent/requests.ts";
import { BLOCK, fioCommand, jobOf } from "../kernel/fio.ts";
import { loopDevice } from "../kernel/loop_device.ts";
import { compare, nothing, ours, peers } from "./watching.ts";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "9" }, bpftrace: { type: "string", default: "0.23" }, depth: { type: "string", default: "1" } },
});
const bpftrace = bpftraceNamed(values.bpftrace);

const REQUESTS = 100_003;
using folder = temporary(), memory = temporary("/dev/shm");
await using device = await loopDevice(memory, 64);
device.scheduler("none");
const command = fioCommand(device.path, { rw: "randread", iodepth: values.depth, number_ios: REQUESTS, norandommap: 1, io_size: REQUESTS * BLOCK });
const watches = {
  nothing,
  io: ours(bpftrace, "io", ["--no-output"]),
  "io --snapshots": ours(bpftrace, "io", ["--snapshots", folder.file("snapshots.jsonl")]),
  // As biolatency does.
  "io --snapshots --all": ours(bpftrace, "io", ["--snapshots", folder.file("all.jsonl")], "all"),
  biolatency: await peers("biolatency"),
};
await compare(watches, Number(values.rounds), {
  command: command.join(" "),
  step: "a request",
  steps: () => REQUESTS,
  nanoseconds(stdout, kernelNs) {
    const { read, usr_cpu: user, sys_cpu: system } = jobOf(stdout);
    return (read.runtime * 1e6 * (user + system) / 100 + kernelNs) / read.total_ios;
  },
}, [{ of: "io --snapshots --all", times: 1.5, as: "biolatency", alike: hasRawTracepoints(bpftrace) ? true : undefined }]);

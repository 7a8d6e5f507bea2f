/** Requests of which the kernel lets nobody see the answer: they take nothing from those that come later. */
import assert from "node:assert/strict";
import { ioSnapshotSchema } from "../../../lib/analysis/snapshots_schema.ts";
import { type Finished, mustRun, start } from "../../harness/command.ts";
import { sampledTest } from "../../harness/kernel.ts";
import { llmprof } from "../../harness/llmprof.ts";
import { snapshotLines } from "../../harness/snapshot_lines.ts";
import { type Temporary, temporary } from "../../harness/temporary.ts";
import { hasRawTracepoints } from "../../independent/requests.ts";
import { fioCommand, jobOf } from "../fio.ts";
import { hiddenAnswers } from "../hidden_hits.ts";
import { wholeSummaryOf } from "../live_run.ts";
import { type LoopDevice, loopDevice } from "../loop_device.ts";

/** With a buffer of 64 pages a map of bpftrace 0.17 has room for so many rows. */
const ROWS = 4096;
/** Whoever runs on a processor is mostly in this program: what an interrupt brings meanwhile, no program sees but those at raw tracepoints. */
const BUSY = `BEGIN { printf("attached\\n"); }
tracepoint:raw_syscalls:sys_enter /comm == "dd"/ { $i = (uint64)0; while ($i < 200) { @last[$i % 8] = $i; $i++; } }`;
const SPIN = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1"];

/** Of a device: how many requests are told, and how long the longest took at least. */
type Told = (device: LoopDevice) => { readonly requests: number; readonly longestNs: number };

/** What llmprof is asked for, and where it says it. */
const ways: Readonly<Record<string, (folder: Temporary) => { readonly flags: readonly string[]; told(ended: Finished): Told }>> = {
  "io": () => ({
    flags: ["--no-output", "--summary", "json"],
    told: (ended) => ({ number }) => {
      const row = wholeSummaryOf("io", ended).result.devices.find(({ device, what }) => device === number && what === "read");
      return { requests: row?.requests ?? 0, longestNs: row?.service.maxNs ?? 0 };
    },
  }),
  "io --snapshots": (folder) => ({
    flags: ["--interval", "1", "--snapshots", folder.file("io.jsonl")],
    told: () => ({ name }) => {
      const rows = snapshotLines(Deno.readTextFileSync(folder.file("io.jsonl")), ioSnapshotSchema)
        .flatMap(({ latency_histogram }) => latency_histogram).filter(({ device_name }) => device_name === name);
      const longest = Math.max(0, ...rows.flatMap(({ buckets }) => buckets.map(({ slot }) => 1000 * 2 ** slot)));
      return { requests: rows.reduce((sum, { total }) => sum + total, 0), longestNs: longest };
    },
  }),
};

for (const [name, way] of Object.entries(ways)) {
  sampledTest(
    0,
    `${name}: requests whose answers were skipped leave room for all that come later, and nobody's answer at their places is taken for theirs`,
    { fio: true },
    async (bpftrace) => {
      using folder = temporary(), other = temporary("/dev/shm");
      await using disk = await loopDevice(folder, 256);
      await using memory = await loopDevice(other, 64);
      const fifo = folder.file("fifo"), wait = `read -r line < ${fifo}`;
      await mustRun(["mkfifo", fifo]);
      const reads = (device: LoopDevice, more = {}) => fioCommand(device.path, { rw: "randread", iodepth: 32, ...more });
      // No more of the second than a map of rows has room for until it is told.
      const first = reads(disk, { output: folder.file("first") }), second = reads(memory, { rate_iops: 10_000, output: folder.file("second") });
      const all = `${wait}; ${first.join(" ")}; echo first done; ${wait}; ${second.join(" ")}; echo second done; ${wait}`;
      const { flags, told } = way(folder), argv = ["io", "--bpftrace", bpftrace.path, "--buffer-pages", "64", ...flags, "--", "sh", "-c", all];
      await using running = start([...llmprof, ...argv], { cwd: folder.path });
      await running.saw("Tracing");
      await using busy = start([bpftrace.path, "-q", "-B", "line", "-"], { stdin: BUSY });
      await busy.saw("attached");
      await using spinning = new AsyncDisposableStack();
      for (let i = 0; i < 4 * navigator.hardwareConcurrency; i++) spinning.use(start(SPIN));
      await Deno.writeTextFile(fifo, "\n");
      await running.saw("first done");
      await spinning.disposeAsync();
      await busy[Symbol.asyncDispose]();
      using hidden = hiddenAnswers(memory);
      const before = memory.stat().reads;
      await Deno.writeTextFile(fifo, "\n");
      await running.saw("second done");
      const kernel = memory.stat().reads - before;
      // Somebody else's, at all of these places.
      await mustRun(reads(disk));
      await Deno.writeTextFile(fifo, "\n");
      const ended = await running.finished();
      assert.equal(ended.code, 0, ended.stderr);
      const of = told(ended), asked = jobOf(Deno.readTextFileSync(folder.file("first"))).read;
      const [unanswered, later] = [of(disk), of(memory)];
      assert.ok(unanswered.longestNs <= asked.lat_ns.max, `${unanswered.longestNs} ns, ${asked.lat_ns.max} by fio's clock`);
      // One of its maps was full.
      if (!hasRawTracepoints(bpftrace)) assert.ok(asked.total_ios - unanswered.requests > ROWS, `${unanswered.requests} of ${asked.total_ios}`);
      // Where no raw tracepoint tells of answers, 2 to 15 % were skipped in all runs so far (README).
      const missing = kernel - later.requests, allowed = hidden.count() + (hasRawTracepoints(bpftrace) ? 0.001 : 0.2) * kernel;
      assert.ok(missing >= 0 && missing <= allowed, `${later.requests} of ${kernel}`);
    },
    true,
  );
}

/** What tools of others say of the same disk and the same thread, in the same run. */
import assert from "node:assert/strict";
import { start } from "../../harness/command.ts";
import { sampledTest } from "../../harness/kernel.ts";
import { temporary } from "../../harness/temporary.ts";
import { type Bucket, endTool, histogramOf, offCpuOf, startTool } from "../../independent/libbpf_tools.ts";
import { built } from "../../setup/programs.ts";
import { fioCommand, jobOf } from "../fio.ts";
import { hiddenAnswers, hiddenSwitches } from "../hidden_hits.ts";
import { lastOfThree } from "../last_of_three.ts";
import { startLlmprof, summaryOf } from "../live_run.ts";
import { loopDevice } from "../loop_device.ts";

const REQUESTS = 4999, HOG = 1;

sampledTest(0, "io beside biolatency: as many requests, fio's and the kernel's", { fio: true, libbpfTools: true }, async ({ path }) => {
  using folder = temporary();
  await using device = await loopDevice(folder, 64);
  using hidden = hiddenAnswers(device);
  await using biolatency = await startTool("biolatency", "-D");
  const before = device.stat();
  const target = { argv: fioCommand(device.path, { rw: "randread", iodepth: 32, number_ios: REQUESTS }) };
  await using llmprof = startLlmprof("io", { bpftrace: path, folder, target, formats: [] });
  const ended = await llmprof.finished();
  const theirs = histogramOf(await endTool(biolatency), new RegExp(`^disk = ${device.name}\\s`, "m"));
  const { result, events } = summaryOf("io", ended);
  const kernel = device.stat().reads - before.reads;
  const ours = result.devices.find((row) => row.device === device.number && row.what === "read")!;
  assert.equal(jobOf(ended.stderr).read.total_ios, REQUESTS);
  const [seen, unseen] = [countOf(theirs), hidden.count()];
  assert.ok(seen <= kernel && seen >= kernel - unseen, `${seen} of ${kernel} requests by biolatency, ${unseen} hidden`);
  assert.ok(
    ours.requests <= kernel && ours.requests >= kernel - unseen - events.skipped!,
    `${ours.requests} of ${kernel} requests, ${unseen} hidden, ${events.skipped} skipped`,
  );
  within(ours.service.totalNs / 1000, theirs, "time in the device");
});

sampledTest(
  1,
  "sched beside offcputime and runqlat: a thread is off and waits for a processor as long",
  { gcc: true, libbpfTools: true },
  async ({ path }) => {
    using folder = temporary();
    const file = folder.file("read");
    Deno.writeFileSync(file, new Uint8Array(8 << 20));
    await using _hog = start([built.hog, String(HOG)]);
    const run = async () => {
      const hidden = hiddenSwitches();
      await using offcputime = await startTool("offcputime");
      await using runqlat = await startTool("runqlat", "-L");
      await using llmprof = startLlmprof("sched", {
        bpftrace: path,
        folder,
        target: { argv: [built.waits, file, "/dev/null", String(HOG)] },
        formats: [],
      });
      const ended = await llmprof.finished();
      const [off, queued] = [await endTool(offcputime), await endTool(runqlat)];
      const { result, events } = summaryOf("sched", ended);
      const { tid }: { tid: number } = JSON.parse(ended.stderr.split("\n").filter((line) => line.startsWith("{")).at(-1)!);
      const thread = result.threads.find((thread) => thread.tid === tid)!;
      const ours = (thread.queuedNs + thread.waits.reduce((sum, { ns }) => sum + ns, 0)) / 1000, theirs = offCpuOf(off, tid);
      const waits = histogramOf(queued, new RegExp(`^tid = ${tid}\\s`, "m"));
      const times = thread.voluntary + thread.involuntary;
      return { ours, theirs, times, hidden: hidden(), skipped: events.skipped!, queuedNs: thread.queuedNs, waits };
    };
    // Whoever gets the processor from a thread that nobody may trace comes back unseen, which llmprof alone notices: see hidden_hits.ts.
    type Figures = Awaited<ReturnType<typeof run>>;
    const isNear = ({ ours, theirs }: Figures) => Math.abs(ours / theirs - 1) < 0.02;
    const isWhole = ({ waits, times, skipped }: Figures) => Math.abs(countOf(waits) - times) <= 1 + skipped;
    const figures = await lastOfThree(run, (figures) => isNear(figures) && isWhole(figures));
    const { ours, theirs, times, hidden, skipped, queuedNs, waits } = figures, counted = countOf(waits);
    assert.ok(isNear(figures), `${ours} µs off, ${theirs} by offcputime`);
    assert.ok(
      counted <= times + 1 + skipped && counted >= times - Math.max(hidden, 0.01 * times) - 1 - skipped,
      `${times} times off, ${counted} by runqlat, ${skipped} skipped, ${hidden} hidden at most`,
    );
    within(queuedNs / 1000, waits, "waiting for a processor");
  },
);

function countOf(buckets: readonly Bucket[]): number {
  return buckets.reduce((sum, { count }) => sum + count, 0);
}

/** Buckets say a sum as well as their bounds are; whole microseconds are rounded down. */
function within(us: number, buckets: readonly Bucket[], what: string): void {
  const low = buckets.reduce((sum, { low, count }) => sum + low * count, 0),
    high = buckets.reduce((sum, { high, count }) => sum + (high + 1) * count, 0);
  assert.ok(us >= 0.98 * low && us <= 1.02 * high, `${what}: ${us} µs, between ${low} and ${high} by the other's buckets`);
}

/** How long requests to a device of the test's own take and wait, as fio, the kernel and another program say. Who else computes keeps fio from asking. */
import assert from "node:assert/strict";
import { sampledTest } from "../../harness/kernel.ts";
import { temporary } from "../../harness/temporary.ts";
import { hasRawTracepoints, quantileOf, requestTimes } from "../../independent/requests.ts";
import { BLOCK, fioCommand, jobOf } from "../fio.ts";
import { hiddenAnswers } from "../hidden_hits.ts";
import { startLlmprof, summaryOf } from "../live_run.ts";
import { loopDevice } from "../loop_device.ts";

const MANY = 20_011;

// The device has 128 requests at once. Large ones it answers more slowly than fio asks: of 512 most wait in the scheduler, for milliseconds.
for (const [index, scheduler, depth, bs] of [[1, "mq-deadline", 512, 65_536], [2, "none", 16, BLOCK]] as const) {
  sampledTest(index, `io: twenty thousand requests take as long as the kernel, another program and fio say, scheduler ${scheduler}`, {
    fio: true,
  }, async (bpftrace) => {
    using folder = temporary();
    await using device = await loopDevice(folder, 96);
    device.scheduler(scheduler);
    if (scheduler !== "none") device.queue(depth);
    using hidden = hiddenAnswers(device);
    const target = { argv: fioCommand(device.path, { rw: "randread", iodepth: depth, bs, number_ios: MANY, io_size: MANY * bs }) };
    const before = device.stat();
    const { queued, times, value: ended } = await requestTimes(bpftrace, device.dev, async () => {
      await using llmprof = startLlmprof("io", { bpftrace: bpftrace.path, folder, target, formats: [] });
      return await llmprof.finished();
    });
    const { result } = summaryOf("io", ended);
    const after = device.stat();
    const { requests, queue, service } = result.devices.find((row) => row.device === device.number && row.what === "read")!;
    assert.equal(jobOf(ended.stderr).read.total_ios, MANY);
    const kernel = (after.readMs - before.readMs) / (after.reads - before.reads);
    const ours = (queue.totalNs + service.totalNs) / requests / 1e6;
    assert.ok(Math.abs(ours / kernel - 1) < 0.03, `${ours} ms a request, ${kernel} by the kernel`);
    // What is asked for one by one, and sorted by nobody, waits in no queue.
    const alone = service.totalNs / requests / 1e6;
    if (scheduler === "none") assert.ok(Math.abs(alone / kernel - 1) < 0.03, `${alone} ms in the device, ${kernel} by the kernel`);
    // What a scheduler puts together is one request.
    const seen = times.length + hidden.count(), most = (hasRawTracepoints(bpftrace) ? 0.999 : 0.95) * (after.reads - before.reads);
    assert.ok(seen > most, `${times.length} seen by another program, ${seen} with those hidden from both`);
    if (scheduler !== "none") {
      assert.ok(queued.length + hidden.count() > most, `${queued.length} put into the scheduler, by another program`);
      for (const [q, told] of [[0.5, queue.p50Ns], [0.9, queue.p90Ns], [0.99, queue.p99Ns]] as const) {
        const theirs = quantileOf(queued, q);
        assert.ok(theirs > 100_000 && Math.abs(told / theirs - 1) < 0.03, `p${q * 100} in the queue: ${told} ns, ${theirs} by another program`);
      }
    }
    const said = jobOf(ended.stderr).read.clat_ns.percentile;
    for (const [q, told] of [[0.5, service.p50Ns], [0.9, service.p90Ns], [0.99, service.p99Ns]] as const) {
      const theirs = quantileOf(times, q), fios = said[`${(q * 100).toFixed(6)}`]!;
      assert.ok(Math.abs(told / theirs - 1) < 0.03, `p${q * 100}: ${told} ns, ${theirs} by another program`);
      assert.ok(told < 1.03 * fios, `p${q * 100}: ${told} ns, ${fios} by fio`);
    }
  }, scheduler === "none");
}

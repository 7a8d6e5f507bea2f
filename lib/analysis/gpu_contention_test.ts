import assert from "node:assert/strict";
import { GpuContention } from "./gpu_contention.ts";

const SECOND = 1e9, MINUTE = 60 * SECOND;

/** Somebody looks at the GPU each second, 5 ms long; the target waits for a prompt of 1.2 s every `every` seconds, and for tokens of 1 ms in between. */
function minute(every: number, token: (at: number) => number = () => 1e6) {
  const events: { readonly at: number; readonly tell: (contention: GpuContention) => void }[] = [];
  const asks = (start: number, ns: number) => events.push({ at: start + ns, tell: (to) => to.asked("cudaStreamSynchronize, 2^0 bytes", start, ns) });
  for (let at = SECOND; at < MINUTE; at += SECOND) events.push({ at: at + 5e6, tell: (to) => to.other(99, "nvtop", at, at + 5e6) });
  for (let prompt = 10; prompt < MINUTE; prompt += every * SECOND) {
    asks(prompt, 1.2e9);
    for (let at = prompt + 1.21e9; at < prompt + every * SECOND - 10e6; at += 10e6) asks(at, token(at));
  }
  const contention = new GpuContention();
  for (const { tell } of events.sort((a, b) => a.at - b.at)) tell(contention);
  return contention.result(MINUTE)!;
}

Deno.test("gpu contention: calls of two lengths beside somebody who looks each second wait for nobody, wherever the long ones happen to begin", () => {
  for (const every of [5, 4.97, 5.03, 3.1, 2.3, 1.7]) {
    const { waits, shared, alone } = minute(every);
    assert.equal(waits, false, `every ${every} s`);
    assert.ok(shared.calls > 100 && alone.calls > 1000);
  }
});

Deno.test("gpu contention: tokens that take four times as long while others are at it waited for them, whatever prompts take", () => {
  const isShared = (at: number) => at % SECOND < 105e6;
  for (const every of [4.97, 3.1]) {
    const { waits, slower, waitedNs, shared } = minute(every, (at) => isShared(at) ? 4e6 : 1e6);
    assert.ok(waits && slower! > 3.5 && slower! < 4.5, `${slower}`);
    assert.ok(Math.abs(waitedNs / (shared.calls * 3e6) - 1) < 0.2, `${waitedNs}`);
  }
});

Deno.test("gpu contention: where one call of forty waits long, and the others not at all, the target waits", () => {
  const contention = new GpuContention();
  contention.other(9, "other", 10 * SECOND, 12 * SECOND);
  const asks = (from: number, calls: number, length: (i: number) => number) => {
    for (let i = 0; i < calls; i++) contention.asked("ioctl", from + i * 1e6, length(i));
  };
  asks(0, 4000, (i) => 1000 + i % 7 * 100);
  asks(10 * SECOND, 2000, (i) => i % 40 === 0 ? 400e3 : 1000 + i % 7 * 100);
  const { waits, slower, waitedNs } = contention.result(MINUTE)!;
  assert.ok(waits && slower! > 5, `${slower}`);
  assert.ok(Math.abs(waitedNs / (50 * 399e3) - 1) < 0.02, `${waitedNs}`);
});

Deno.test("gpu contention: a few calls that differ by chance decide nothing", () => {
  const contention = new GpuContention(), lengths = [1e6, 30e6, 2e6, 1e6, 1e6, 900e6];
  for (const ns of lengths) contention.asked("sync", 0, ns);
  contention.other(9, "other", SECOND, 20 * SECOND);
  for (const [i, ns] of [...lengths.slice(1), 25e6].entries()) contention.asked("sync", (2 + i) * SECOND, ns);
  const { waits, slower, shared, alone } = contention.result(MINUTE)!;
  assert.ok(slower! > 1.5);
  assert.deepEqual([waits, shared.calls, alone.calls], [false, 6, 6]);
});

Deno.test("gpu contention: a call that began before all that is known of others counts for neither side", () => {
  const contention = new GpuContention();
  for (let i = 1; i <= 1500; i++) contention.other(9, "other", i * SECOND, i * SECOND + 5e6);
  assert.equal(contention.asked("sync", 10 * SECOND, 1490 * SECOND), undefined);
  for (const [start, of] of [[1400.05, "shared"], [1400.5, "alone"]] as const) {
    contention.asked("sync", start * SECOND, 100 * SECOND);
    assert.equal(contention.result(MINUTE)![of].calls, 1);
  }
});

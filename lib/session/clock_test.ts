import assert from "node:assert/strict";
import { HostClock } from "./clock.ts";

Deno.test("host clock: counts on from where a program read both clocks, from a round base, 115 days after boot", () => {
  // The wall clock says 1,700,000,000.5 s when the machine has been up for 9,999,999.25 s.
  const reading = { boottime: 9_999_999_250_000_000n, realtime: 1_700_000_000_500_000_000n };
  let monotonic = 1000;
  const clock = new HostClock(reading, () => monotonic, 1_700_000_000_500 - 1000);
  assert.equal(clock.base, 9_999_999_000_000_000n);
  assert.equal(clock.realtimeOffset, 1_690_000_001_250_000_000n);
  assert.ok(Math.abs(clock.now() - 250e6) < 1e5, `${clock.now()}`);
  monotonic += 2000;
  assert.ok(Math.abs(clock.now() - 2250e6) < 1e5);
  assert.ok(clock.boottime() - 10_000_001_250_000_000n < 100_000n);
});

Deno.test("host clock: after the machine was asleep it is where the heartbeats are, and one that came late does not set it back", () => {
  let monotonic = 1000;
  const clock = new HostClock({ boottime: 5_000_000_000n, realtime: 1_700_000_000_000_000_000n }, () => monotonic, 1_700_000_000_000 - 1000);
  assert.equal(clock.notBefore(-100e6), 0);
  assert.ok(Math.abs(clock.now()) < 1e5);
  // A minute of sleep: CLOCK_BOOTTIME counts it, CLOCK_MONOTONIC does not.
  assert.ok(Math.abs(clock.notBefore(60e9) - 60e9) < 1e5);
  assert.equal(Math.round(clock.now()), 60e9);
  monotonic += 500;
  assert.equal(Math.round(clock.now()), 60.5e9);
  assert.equal(clock.notBefore(60.4e9), 0);
  assert.equal(Math.round(clock.now()), 60.5e9);
});

Deno.test("host clock: one that is behind the first heartbeat was set wrong, and nobody slept", () => {
  const clock = new HostClock({ boottime: 5_000_000_000n, realtime: 1_700_000_000_000_000_000n }, () => 1000, 1_700_000_000_000 - 1000);
  assert.deepEqual([clock.notBefore(7e9), Math.round(clock.now())], [0, 7e9]);
});

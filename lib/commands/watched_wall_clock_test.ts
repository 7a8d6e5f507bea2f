import assert from "node:assert/strict";
import { HostClock } from "../session/clock.ts";
import { WatchedWallClock } from "./watched_wall_clock.ts";

Deno.test("wall clock: when it is set that is told once, as soon as two looks agree, and no sleep is taken for it", () => {
  const start = 1_700_000_000_000, reading = { boottime: 9_999_999_250_000_000n, realtime: BigInt(start) * 1_000_000n };
  let now = 0, asleep = 0, set = 0;
  const clock = new HostClock(reading, () => now, start);
  const watched = new WatchedWallClock(() => clock, () => start + now + asleep + set);
  const look = () => {
    now += 1000;
    return watched.look();
  };
  assert.deepEqual([look(), look()], [[], []]);
  set = 3_600_000;
  const told = (shiftMs: number) => [{ fact: "wallClock", shiftMs }];
  assert.deepEqual([look(), look(), look()], [[], told(3_600_000), []]);
  // Its own clock stood still for a minute, until a heartbeat says what time it is.
  asleep = 60_000;
  assert.deepEqual(look(), []);
  clock.notBefore((now + asleep) * 1e6 + Number(reading.boottime - clock.base));
  assert.deepEqual([look(), look()], [[], []]);
  set = 0;
  assert.deepEqual([look(), look(), look()], [[], told(0), []]);
  // The heartbeat behind another sleep came late.
  asleep += 60_000;
  clock.notBefore((now + asleep - 40) * 1e6 + Number(reading.boottime - clock.base));
  assert.deepEqual([look(), look(), look()], [[], [], []]);
});

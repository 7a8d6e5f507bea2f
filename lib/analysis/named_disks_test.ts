import assert from "node:assert/strict";
import type { Counter, Instant, Slice, Span } from "../events/span.ts";
import { Tracks } from "../events/tracks.ts";
import { NamedDisks } from "./named_disks.ts";

Deno.test("named disks: rows and requests say the disk's name, where it is known", () => {
  const tracks = new Tracks();
  const { of } = new NamedDisks(new Map([["254:0", "vda"]]));
  const request = (device: string): Slice => {
    const track = tracks.lane(7, `disk ${device}`, 5);
    return { type: "slice", track, name: "read", category: "block.request", start: 1, end: 2, args: { device, bytes: 512 } };
  };
  const told = [of(request("254:0")), of(request("254:0"))] as Slice[];
  assert.deepEqual(told.map(({ track, args }) => [track.name, args]), Array(2).fill(["disk vda", { device: "vda", bytes: 512 }]));
  assert.equal(told[0]!.track, told[1]!.track, "one row");
  const thread = tracks.thread(7, 8);
  const requeued: Instant = {
    type: "instant",
    track: thread,
    name: "requeued",
    category: "block.requeue",
    at: 1,
    args: { device: "254:0", sector: 1 },
  };
  assert.deepEqual(of(requeued), { ...requeued, args: { device: "vda", sector: 1 } });
  const counter = { type: "counter", track: tracks.counter(7, "requests at once: disk 254:0", "requests"), at: 1, value: 2 } as const;
  assert.equal((of(counter) as Counter).track.name, "requests at once: disk vda");
  const others: Span[] = [request("7:1"), { ...requeued, category: "gpu.call" }, { type: "counter", track: thread, at: 1, value: 2 }, {
    ...counter,
    track: { ...counter.track, name: "requests at once: disk 7:1" },
  }];
  for (const other of others) assert.equal(of(other), other);
});

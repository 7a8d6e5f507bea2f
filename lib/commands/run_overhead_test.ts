import assert from "node:assert/strict";
import { noRoom } from "../../tests/harness/fake_child.ts";
import { capable, FakeProc } from "../../tests/harness/fake_machine.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import type { Means } from "../session/means.ts";
import type { Session } from "../session/session.ts";
import { StatusLine } from "../session/status.ts";
import { RunOverhead } from "./run_overhead.ts";

for (const when of ["when it begins", "when it ends"] as const) {
  Deno.test(`run overhead: of a run in which no process could be started to look, ${when}, nothing is predicted, and it goes on`, async () => {
    using root = temporary();
    const { files } = new FakeProc(root.path);
    const never = new Promise<void>(() => {});
    const means = { files, machine: capable(), sleep: () => never, monotonic: () => 0 } as Partial<Means> as Means;
    const status = new StatusLine({ err: () => {} }, true);
    const overhead = await RunOverhead.before(means, null, [], { tree: true, detail: "op", bufferPages: 64 }, status, never);
    const session = { tops: [100], timeline: { start: 0, tallies: new Map(), code: new Map() } } as unknown as Session;
    if (when === "when it begins") files.list = noRoom;
    overhead.follow(session, [], Promise.resolve(), never);
    await new Promise((resolve) => setTimeout(resolve, 5));
    files.list = noRoom;
    assert.deepEqual(await overhead.conclude(), [{ fact: "overhead", predicted: null, measured: null, calibrated: false }]);
  });
}

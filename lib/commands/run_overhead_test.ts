import assert from "node:assert/strict";
import { life } from "../../probes/process/life.ts";
import { switches } from "../../probes/sched/switch.ts";
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
    const never = new Promise<void>(() => {}), looked = Promise.withResolvers<void>();
    const sleep = () => {
      looked.resolve();
      return never;
    };
    const means = { files, machine: capable(), sleep, monotonic: () => 0 } as Partial<Means> as Means;
    const status = new StatusLine({ err: () => {} }, true);
    const overhead = await RunOverhead.before(means, null, [life], { tree: true, detail: "op", bufferPages: 64 }, status, never);
    const session = { tops: [100], timeline: { start: 0, tallies: new Map(), code: new Map() } } as unknown as Session;
    const fails = () => {
      looked.resolve();
      return noRoom();
    };
    if (when === "when it begins") files.list = fails;
    overhead.follow(session, [], Promise.resolve(), never);
    await looked.promise;
    files.list = noRoom;
    assert.deepEqual(await overhead.conclude(), [{ fact: "overhead", predicted: null, measured: null, calibrated: false }]);
  });
}

Deno.test("run overhead: what is not predicted is said, also of a limit, and where it is all there is nothing is looked at", async () => {
  let said = "";
  const means = { machine: capable() } as Partial<Means> as Means, status = new StatusLine({ err: (text) => said += text }, false);
  const unpriced = { layers: ["sched"], probes: [switches] } as const,
    options = { tree: true, detail: "op", bufferPages: 64, maxOverhead: 0.02 } as const;
  const overhead = await RunOverhead.before(means, null, [switches], options, status, Promise.resolve(), unpriced);
  overhead.follow({} as Session, [], Promise.resolve(), Promise.resolve());
  const text = "--max-overhead 2.0 %: the cost of sched is not predicted, and comes on top";
  assert.equal(said, `${text}\n`);
  const fact = { fact: "overhead", predicted: null, measured: null, calibrated: false, unpriced: ["sched"] };
  assert.deepEqual(await overhead.conclude(), [{ fact: "note", text }, fact]);
});

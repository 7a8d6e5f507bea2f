import assert from "node:assert/strict";
import type { Capabilities } from "../machine/capabilities.ts";
import { probeChecks, probeLines } from "./probe_needs.ts";
import { fault } from "../../probes/memory/fault.ts";

Deno.test("probe needs: a tracepoint that no kernel of this processor has is sought in no other one, and what it would show is said", async () => {
  const { fuller } = fault;
  const advises = async (arch: Capabilities["arch"], without: string) => {
    const every = { arch, btf: true, hiddenBtf: null, root: true, tracefs: "/t", hidingTracepoints: [], tracepoints: { size: 9, has: () => true } };
    const lacking = { ...every, tracepoints: { size: 9, has: (name: string) => name !== without } };
    const machine = lacking as unknown as Capabilities;
    return probeLines(await probeChecks(machine), machine).map(({ need, found, consequence, advice }) => [need, found, consequence, advice]);
  };
  const line = ["probe memory/fault", `without ${fuller!.tracepoint}`, `Not seen: ${fuller!.summary}`];
  const other = "Another kernel may have it: this one was built without, or is too old.";
  assert.deepEqual(await advises("aarch64", fuller!.tracepoint), [[...line, "No kernel for aarch64 has it."]]);
  assert.deepEqual(await advises("x86_64", fuller!.tracepoint), [[...line, other]]);
  const switched = await advises("aarch64", "sched:sched_switch");
  assert.ok(switched.length > 0 && switched.every(([, , , advice]) => advice === other));
});

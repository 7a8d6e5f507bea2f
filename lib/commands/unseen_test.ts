import assert from "node:assert/strict";
import { graph } from "../../probes/ggml/graph.ts";
import type { Means } from "../session/means.ts";
import type { Session } from "../session/session.ts";
import { continuedEarly } from "../session/standing.ts";
import { operatorsProfile } from "./operators.ts";
import { checkSeen } from "./unseen.ts";

Deno.test("unseen: it is said how far the target came, and where it was continued before probes were attached, that this is why", async () => {
  const session = {
    timeline: { tallies: new Map() },
    options: { target: { type: "launched", argv: ["node"] }, probes: [graph] },
    attachedStreams: new Set<string>(),
  };
  const machine = { bpftrace: { features: { uprobeMulti: true, symbols: true } } };
  const check = (...facts: Parameters<typeof checkSeen>[4]) =>
    checkSeen(operatorsProfile, session as unknown as Session, { machine } as unknown as Means, "llama.cpp", facts);
  const exit = { fact: "exit", pid: 7, code: 0, signal: null } as const;
  await assert.rejects(check(exit), { exitCode: 1, why: "It ended before it mapped the library." });
  session.attachedStreams.add("llama");
  await assert.rejects(check(exit), { exitCode: 1, why: "It ended before it came to compute, or before probes were attached to that." });
  await assert.rejects(check(exit, continuedEarly(7, "process 8")), { exitCode: 1, why: /continued by another before that was done\.$/ });
});

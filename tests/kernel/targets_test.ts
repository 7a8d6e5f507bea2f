/** Whatever the target is and wherever it lives: the same counts as for the plain one. */
import assert from "node:assert/strict";
import { sampledTest } from "../harness/kernel.ts";
import { countTarget, expectedCounts, targetKinds } from "./targets_run.ts";

for (const [index, kind] of targetKinds.filter(({ seldom }) => !seldom).entries()) {
  sampledTest(index, `target: ${kind.name}: every call is in the trace`, { gcc: true, ...(kind.podman && { podman: true }) }, async ({ path }) => {
    assert.deepEqual(await countTarget(kind, path), expectedCounts(kind));
  });
}

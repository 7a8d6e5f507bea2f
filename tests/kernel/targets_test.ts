/** Whatever the target is and wherever it lives: the same counts as for the plain one. */
import assert from "node:assert/strict";
import { sampledTest } from "../harness/kernel.ts";
import { countTarget, expectedCounts, targetKinds } from "./targets_run.ts";

/** Others have what is in them, too. */
const isRare = new Set([
  "unshare and chroot, running",
  "a path with @, space, quotes, backslash and newline, running",
  "stripped of every name, with a debug file in its own root",
  "begun by a loader, stripped of every name, with a debug file, by its name",
  "two copies in one running process",
  "linked into an addon, running",
  "one file in two overlays, running",
]);

for (const [index, kind] of targetKinds.filter(({ seldom }) => !seldom).entries()) {
  sampledTest(index, `target: ${kind.name}: every call is in the trace`, { gcc: true, ...(kind.podman && { podman: true }) }, async ({ path }) => {
    assert.deepEqual(await countTarget(kind, path), expectedCounts(kind));
  }, isRare.has(kind.name));
}

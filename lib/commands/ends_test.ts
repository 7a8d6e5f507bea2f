import assert from "node:assert/strict";
import { ends, type EndSignal } from "./ends.ts";

/** Signals by when they come, in milliseconds: what the process exits with, if it does, and whether what is left was looked after before. */
async function after(...signals: readonly (readonly [at: number, signal: EndSignal])[]): Promise<unknown[]> {
  const told: unknown[] = [];
  let clock = 0;
  const { came, interrupted, atKill } = ends(() => clock, (code) => told.push(code));
  atKill(() => told.push("discarded"));
  atKill(() => told.push("kept"));
  for (const [at, signal] of signals) {
    clock = at;
    came(signal);
  }
  await interrupted;
  return told;
}

Deno.test("ends: a second signal kills, once the last thing to do is done", async () => {
  assert.deepEqual(await after([7, "SIGINT"]), []);
  assert.deepEqual(await after([7, "SIGINT"], [157, "SIGINT"]), ["kept", 130]);
  assert.deepEqual(await after([7, "SIGTERM"], [407, "SIGTERM"]), ["kept", 143]);
  assert.deepEqual(await after([7, "SIGINT"], [8, "SIGTERM"]), ["kept", 143]);
  assert.deepEqual(await after([7, "SIGHUP"], [8, "SIGINT"]), ["kept", 130]);
});

Deno.test("ends: a SIGHUP is never the second, nor is one of the same name that comes with the first", async () => {
  assert.deepEqual(await after([7, "SIGHUP"], [12, "SIGHUP"], [9000, "SIGHUP"]), []);
  assert.deepEqual(await after([7, "SIGINT"], [9000, "SIGHUP"]), []);
  assert.deepEqual(await after([7, "SIGTERM"], [8, "SIGTERM"]), []);
  assert.deepEqual(await after([7, "SIGINT"], [8, "SIGINT"]), []);
  assert.deepEqual(await after([7, "SIGTERM"], [8, "SIGTERM"], [400, "SIGTERM"]), ["kept", 143]);
});

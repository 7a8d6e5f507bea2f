import assert from "node:assert/strict";
import { Pseudonyms } from "../timeline/pseudonyms.ts";
import type { Progress } from "./progress.ts";
import { StatusLine } from "./status.ts";

/** What is said of it. */
function said(progress: Progress, pseudonyms?: Pseudonyms): string {
  let text = "";
  new StatusLine({ err: (part) => text += part }, false, pseudonyms).progress(progress);
  return text;
}

Deno.test("status: whom llmprof attaches to, by its number and command line, of which --redact tells nothing", () => {
  const attaching = (pid: number, argv: readonly string[]) => ({ state: "attaching", to: { pid, argv } }) as const;
  const server = attaching(4711, ["./llama-server", "--api-key", "secret"]);
  assert.equal(said({ state: "attaching" }), "Attaching…\n");
  assert.equal(said(server), "Attaching to process 4711 (./llama-server --api-key secret)…\n");
  assert.equal(said(server, new Pseudonyms()), "Attaching to process 4711 (path-1 argument-1 argument-2)…\n");
  assert.equal(said(attaching(2, [])), "Attaching to process 2…\n");
  assert.equal(said(attaching(1, ["everything"])), "Attaching to the whole machine…\n");
  assert.match(said(attaching(7, ["a", "\u001b[2J", "b".repeat(200)])), /^Attaching to process 7 \(a \ufffd\[2J b+…\)…\n$/);
});

Deno.test("status: who has ended without computing while another is waited for", () => {
  const passed = "Process 7 is passed over.";
  assert.equal(said({ state: "passed", pid: 7 }), `${passed} It mapped an engine's library and ended without computing. Still waiting.\n`);
  assert.equal(said({ state: "passed", pid: 7, why: "It is filtered." }), `${passed} It is filtered. Still waiting.\n`);
  const secret = { state: "passed", pid: 7, why: "/home/geheim/srv cannot be read." } as const;
  assert.equal(said(secret, new Pseudonyms()), `${passed} path-1 cannot be read. Still waiting.\n`);
});

Deno.test("status: what is predicted, and what is not in it", () => {
  const predicted = { state: "predicted", overhead: 0.0123, hitsPerSecond: 25_000, unpriced: [], calibrated: true } as const;
  assert.equal(said(predicted), "Predicted overhead 1.2 % at 25,000 hits/s.\n");
  const guess = " (uncalibrated: llmprof doctor --calibrate measures what a hit costs here)";
  assert.equal(said({ ...predicted, calibrated: false }), `Predicted overhead 1.2 % at 25,000 hits/s${guess}.\n`, "also of commands without it");
  assert.equal(said({ ...predicted, unpriced: ["io", "sched"] }), "Predicted overhead 1.2 % without io and sched at 25,000 hits/s.\n");
});

Deno.test("status: --quiet leaves out progress, and no warning nor what became of the program", () => {
  let text = "";
  const status = new StatusLine({ err: (part) => text += part }, true);
  for (const state of ["attaching", "waiting", "looking", "calibrating", "draining"] as const) status.progress({ state });
  assert.equal(text, "");
  status.note("Warning: too dear");
  status.progress({ state: "left", pid: 7, end: null });
  status.progress({ state: "left", pid: 7, end: { code: 3, signal: null } });
  status.progress({ state: "left", pid: 7, end: { code: 143, signal: "SIGTERM" } });
  assert.equal(text, "Warning: too dear\nProcess 7 goes on.\nThe program ended with code 3.\nThe program was ended by SIGTERM.\n");
});

import assert from "node:assert/strict";
import { doctorSummarySchema } from "../../mod.ts";
import { inGoneFolder } from "../harness/gone_folder.ts";
import { unmet } from "../harness/needs.ts";
import { runLlmprof } from "./llmprof.ts";

Deno.test("doctor: the text and the JSON say the same, and the exit code says whether this machine can trace", async () => {
  const [text, json] = await Promise.all([runLlmprof(["doctor"]), runLlmprof(["doctor", "--summary", "json"])]);
  const { result } = doctorSummarySchema.parse(JSON.parse(json.stdout));
  assert.deepEqual([text.code, json.code, json.stderr], [result.canTrace ? 0 : 3, text.code, ""]);
  for (const { need, state } of result.checks) assert.match(text.stdout, new RegExp(`^ +${need.replaceAll(/[+.()]/g, "\\$&")} +${state} `, "m"));
  assert.match(text.stdout, result.canTrace ? /This machine can trace\./ : /This machine cannot trace/);
  // What works here has to be found to work.
  if (unmet({ bpftrace: true }) === null) assert.equal(result.canTrace, true);
});

Deno.test("doctor: a file that is no bpftrace is named, and the end is 3", async () => {
  const { code, stdout } = await runLlmprof(["doctor", "--bpftrace", "/no/bpftrace", "--summary", "json"]);
  const { result, bpftrace } = doctorSummarySchema.parse(JSON.parse(stdout));
  const check = result.checks.find(({ need }) => need.startsWith("bpftrace"));
  assert.equal(check?.state, "missing");
  assert.deepEqual([check.found, check.advice], ["/no/bpftrace is none", "Try: /no/bpftrace --version"]);
  assert.deepEqual([code, bpftrace, result.canTrace], [3, null, false]);
});

Deno.test("doctor: a current folder that is no more is a need as any other", async () => {
  // A `deno run` would not start there; the executable does.
  const stdout = await inGoneFolder(
    { doctor: new URL("../../lib/commands/doctor.ts", import.meta.url) },
    `await doctor({ summary: "json" }, { terminal: { out: console.log }, argv: ["llmprof", "doctor"], variables: {} });`,
  );
  const check = doctorSummarySchema.parse(JSON.parse(stdout)).result.checks.find(({ need }) => need === "room in the current folder");
  assert.deepEqual([check?.found, check?.fix], ["it is no more", "cd /tmp"]);
});

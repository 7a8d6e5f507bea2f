import assert from "node:assert/strict";
import { join } from "node:path";
import { doctorSummarySchema } from "../../mod.ts";
import { mustRun } from "../harness/command.ts";
import { unmet } from "../harness/needs.ts";
import { top } from "../harness/places.ts";
import { temporary } from "../harness/temporary.ts";
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
  using folder = temporary();
  // A `deno run` would not start there; the executable does. In a process of its own: others of this one start programs from where they are.
  const script = `
    import { doctor } from ${JSON.stringify(new URL("../../lib/commands/doctor.ts", import.meta.url).href)};
    const gone = Deno.makeTempDirSync();
    Deno.chdir(gone);
    Deno.removeSync(gone);
    await doctor({ summary: "json" }, { terminal: { out: console.log }, argv: ["llmprof", "doctor"], variables: {} });`;
  Deno.writeTextFileSync(folder.file("script.ts"), script);
  const { stdout } = await mustRun([Deno.execPath(), "run", "-A", "--no-check", "--config", join(top, "deno.json"), folder.file("script.ts")]);
  const check = doctorSummarySchema.parse(JSON.parse(stdout)).result.checks.find(({ need }) => need === "room in the current folder");
  assert.deepEqual([check?.found, check?.fix], ["it is no more", "cd /tmp"]);
});

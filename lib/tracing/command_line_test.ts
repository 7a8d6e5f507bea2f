import assert from "node:assert/strict";
import { invocation } from "./command_line.ts";

Deno.test("command line: the program comes on standard input, and both spellings of the number of keys are set", () => {
  const { env, args } = invocation({ bufferPages: 64, mapKeys: 4096, unsafe: false, prompt: false, warnsOfLoss: true });
  assert.deepEqual(args, ["-q", "-B", "full", "-f", "text", "-"]);
  assert.equal(env.BPFTRACE_PERF_RB_PAGES, "64");
  assert.equal(env.BPFTRACE_MAP_KEYS_MAX, env.BPFTRACE_MAX_MAP_KEYS);
});

Deno.test("command line: what is acted on comes line by line, and signals need permission", () => {
  const { args } = invocation({ bufferPages: 64, mapKeys: 4096, unsafe: true, prompt: true, warnsOfLoss: false });
  assert.deepEqual(args, ["--unsafe", "-q", "--no-warnings", "-B", "line", "-f", "text", "-"]);
});

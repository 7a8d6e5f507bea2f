import assert from "node:assert/strict";
import { atLeast, parseBpftrace, probeBpftrace, standsAtRawTracepoints } from "./bpftrace.ts";

Deno.test("bpftrace: a program that is none is null", async () => {
  assert.equal(await probeBpftrace("/bin/true"), null);
  assert.equal(await probeBpftrace("/nonexistent"), null);
});

Deno.test("bpftrace: versions compare by number, not by text", () => {
  assert.ok(atLeast([0, 16, 0], 0, 16) && atLeast([0, 20, 0], 0, 3) && atLeast([1, 0, 0], 0, 16) && atLeast([0, 24, 2], 0, 24, 2));
  assert.ok(!atLeast([0, 14, 9], 0, 16) && !atLeast([0, 24, 1], 0, 24, 2));
});

Deno.test("bpftrace: versions as git, packagers and release candidates write them", () => {
  for (
    const [text, version] of [
      ["bpftrace v0.24-rc0\n", [0, 24, 0]],
      ["bpftrace v0.21.3-4-g52bb-dirty\n", [0, 21, 3]],
      ["bpftrace v0.20.2-1ubuntu4.3\n", [0, 20, 2]],
      ["bpftrace 0.25.1-dev\n", [0, 25, 1]],
      ["WARNING: running confined by snap\nbpftrace v0.20.3\n", [0, 20, 3]],
    ] as const
  ) {
    const found = parseBpftrace("/b", text, "")!;
    assert.deepEqual(found.version, version);
    assert.match(found.text, /^bpftrace v?0\.2\S+$/);
  }
  assert.equal(parseBpftrace("/b", "something else v0.20", ""), null);
});

Deno.test("bpftrace: a raw tracepoint is stood at from 0.23 on, from 0.24 on with a list", () => {
  const help = "    --traceable-functions FILE\n                   load the list of traceable kernel functions from FILE\n";
  const stands = (version: string, says = "") => standsAtRawTracepoints(parseBpftrace("/b", `bpftrace v${version}`, says)!);
  assert.deepEqual(["0.17.0", "0.22.1", "0.23.2", "0.24.0", "0.27.1"].map((version) => stands(version)), [false, false, true, false, false]);
  assert.equal(stands("0.27.1", help), true);
});

Deno.test("bpftrace: nothing is taken for a feature that was not said", () => {
  assert.deepEqual(parseBpftrace("/b", "bpftrace v0.20.2", "")!.features, {
    symbols: false,
    offsets: false,
    ringbuf: false,
    uprobeMulti: false,
    traceableList: false,
  });
  // The name of another feature may end alike.
  assert.equal(parseBpftrace("/b", "bpftrace v0.17.0", "  no bfd: no\n  kprobe_multi: yes\n")!.features.uprobeMulti, false);
});

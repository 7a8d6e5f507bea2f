import assert from "node:assert/strict";
import { temporary } from "../../tests/harness/temporary.ts";
import { atLeast, parseBpftrace, probeBpftrace, standsAtRawTracepoints } from "./bpftrace.ts";

Deno.test("bpftrace: a program that is none is null", async () => {
  assert.equal(await probeBpftrace("/bin/true"), null);
  assert.equal(await probeBpftrace("/nonexistent"), null);
});

const ROOT = { ignore: Deno.uid() !== 0 };

Deno.test(
  "bpftrace: one that says what it is, and an error when it is to run a program, fails here; where it says nothing, nobody knows",
  ROOT,
  async () => {
    using folder = temporary();
    const path = folder.file("bpftrace"), error = "Failed to open kernel function info: Error reading modules from /proc/modules";
    for (const [answer, fails] of [["exit 0", error], ["exit 1", undefined]] as const) {
      const lists = `if [ "$1" = -e ]; then echo "ERROR: ${error}" >&2; exit 1; fi`;
      Deno.writeTextFileSync(path, `#!/bin/sh\n${lists}\nif [ "$1" = --version ]; then echo bpftrace v0.25.0; fi\n${answer}\n`, { mode: 0o755 });
      assert.equal((await probeBpftrace(path))!.bpftrace.fails, fails);
    }
  },
);

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
    patterns: false,
    offsets: false,
    ringbuf: false,
    uprobeMulti: false,
    perCpuLookup: false,
    traceableList: false,
  });
  // One by one each name of a pattern is a whole one.
  const finding = (info: string) => parseBpftrace("/b", "bpftrace v0.20.2", info, "patterns")!.features;
  assert.deepEqual([finding("uprobe_multi: yes").symbols, finding("uprobe_multi: no").symbols], [true, false]);
  // The name of another feature may end alike.
  assert.equal(parseBpftrace("/b", "bpftrace v0.17.0", "  no bfd: no\n  kprobe_multi: yes\n")!.features.uprobeMulti, false);
});

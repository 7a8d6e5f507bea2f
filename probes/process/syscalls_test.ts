import assert from "node:assert/strict";
import { Tracks } from "../../lib/events/tracks.ts";
import type { Instant } from "../../lib/events/span.ts";
import { systemCallName } from "./syscall_names.ts";
import { syscalls } from "./syscalls.ts";

Deno.test("system calls: the last sums of each program are added at the end, and another life begins at nothing", () => {
  const decoder = syscalls.decoder(new Tracks());
  const spans: Instant[] = [];
  const tell = (stream: string, map: string, key: number[], value: number) =>
    decoder.snapshot!({ at: 0, stream, map: `process/syscalls.${map}`, key, value }, () => assert.fail("nothing before the end"));
  // futex is 202 on x86_64 and 98 on aarch64.
  for (const [calls, ns] of [[3, 100], [5, 170]] as const) {
    tell("target", "syscalls", [10, 11, 202 * 2], calls);
    tell("target", "syscall_ns", [10, 11, 202 * 2], ns);
  }
  tell("target-2", "syscalls", [10, 11, 202 * 2], 4);
  tell("target-2", "syscalls", [10, 12, 98 * 2 + 1], 1);
  tell("target-2", "syscalls", [0, 0, 202 * 2], 7);
  decoder.end(9, (span) => void spans.push(span as Instant));
  const told = spans.map(({ track, name, at, args }) => [track.pid, name, at, args!.calls, args!.ns]);
  assert.deepEqual(told, [
    [10, "futex 11", 9, 5, 170],
    [10, "futex 11", 9, 4, 0],
    [10, "futex 12", 9, 1, 0],
    [0, "futex 0", 9, 7, 0],
  ]);
  decoder.end(9, () => assert.fail("told once"));
});

Deno.test("system calls: threads of two processes that had one number, one after the other, have sums of their own", () => {
  const decoder = syscalls.decoder(new Tracks());
  for (const [pid, value] of [[10, 5], [20, 3]] as const) {
    decoder.snapshot!(
      { at: 0, stream: "target", map: "process/syscalls.syscalls", key: [pid, 11, 202 * 2], value },
      () => assert.fail("nothing before the end"),
    );
  }
  const told: unknown[] = [];
  decoder.end(9, (span) => told.push([span.type === "instant" && [span.track.pid, span.name, span.args!.calls]].flat()));
  assert.deepEqual(told, [[10, "futex 11", 5], [20, "futex 11", 3]]);
});

/** What the kernel's own headers call them, where they are installed. */
const header = "/usr/include/x86_64-linux-gnu/asm/unistd_64.h";
const text = (() => {
  try {
    return Deno.readTextFileSync(header);
  } catch {
    return null;
  }
})();

Deno.test({
  name: `system calls: names are those of the kernel's header${text === null ? ` (skipped: there is no ${header})` : ""}`,
  ignore: text === null,
  fn() {
    const theirs = [...text!.matchAll(/#define __NR_(\w+) (\d+)/g)].map(([, name, number]) => [name!, Number(number)] as const);
    assert.ok(theirs.length > 300);
    for (const [name, number] of theirs) assert.equal(systemCallName(number, "x86_64"), name);
  },
});

Deno.test("system calls: a number that nobody knows yet keeps it", () => {
  assert.equal(systemCallName(999, "x86_64"), "system call 999");
  assert.deepEqual([systemCallName(0, "aarch64"), systemCallName(63, "aarch64"), systemCallName(233, "aarch64")], ["io_setup", "read", "madvise"]);
  assert.deepEqual([systemCallName(260, "aarch64"), systemCallName(449, "aarch64")], ["wait4", "futex_waitv"]);
});

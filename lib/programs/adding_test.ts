import assert from "node:assert/strict";
import { replaceSums } from "./adding.ts";

const template = "$s = SUM(@a[pid, $t]); if ($s) { EMPTY(@a[pid, $t]); } ADD(@a[pid, $t], nsecs - ($b + 1)); x(ADDRESS);";

Deno.test("sums: bpftrace's own where a program can read them, and by assignment elsewhere", () => {
  assert.equal(
    replaceSums(template, true),
    "$s = (uint64)@a[pid, $t]; if ($s) { @a[pid, $t] = sum((uint64)0); delete(@a[pid, $t]); } @a[pid, $t] = sum((uint64)(nsecs - ($b + 1))); x(ADDRESS);",
  );
  assert.equal(
    replaceSums(template, false),
    "$s = @a[pid, $t]; if ($s) { @a[pid, $t] = (uint64)0; } @a[pid, $t] = @a[pid, $t] + (nsecs - ($b + 1)); x(ADDRESS);",
  );
});

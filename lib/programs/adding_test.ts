import assert from "node:assert/strict";
import { isReadByBpftrace, replaceSums, replaceWhole } from "./adding.ts";

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
  const one = [true, false].map((readable) => replaceSums("ADD(@a, 1); $s = SUM(@a);", readable));
  assert.deepEqual(one, ["@a = sum((uint64)(1)); $s = (uint64)@a;", "@a = @a + (1); $s = @a;"], "a sum of all");
});

Deno.test("sums: a program that can walk through a whole map tells and empties it itself, in bpftrace's own lines", () => {
  const template = "if ($x) { TELL(@a[pid]); TELL(@b[dev, slot]); CLEAR(@a); }";
  const a = 'for ($row : @a) { printf("@a[%lld]: %llu\\n", $row.0, (uint64)$row.1); }';
  const b = 'for ($row : @b) { printf("@b[%lld, %lld]: %llu\\n", $row.0.0, $row.0.1, (uint64)$row.1); }';
  assert.equal(replaceWhole(template, true), `if ($x) { ${a} ${b} for ($row : @a) { delete(@a, $row.0); } }`);
  assert.equal(replaceWhole(template, false), "if ($x) { print(@a); print(@b); clear(@a); }");
  assert.deepEqual([true, false].map((walks) => isReadByBpftrace(template, walks)), [false, true]);
  assert.ok(!isReadByBpftrace("EMIT(tick, 1);", false));
});

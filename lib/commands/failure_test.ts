import assert from "node:assert/strict";
import { failure } from "./failure.ts";

Deno.test("failure: what a disk refuses is no fault of llmprof's own, in whichever words Deno has it", () => {
  const disks = [
    ["No space left on device (os error 28)", /^The disk is full\. No space .*\nWhat was written until then is kept\. Make room, or choose another/],
    ["ENOSPC: no space left on device, write", /^The disk is full\. ENOSPC.*\nWhat was written until then is kept\. Make room/],
    ["Disk quota exceeded (os error 122)", /^A quota of that disk is used up \(see quota -s\)\. .*\nWhat was written until then is kept\. Delete/],
    ["File too large (os error 27)", /^It is as long as a file may be there .*\nWhat was written until then is kept\. Raise that limit/],
    ["EROFS: read-only file system, open 'a'", /^Nothing can be written to the disk any more.*\nWhat was written until then is kept\. Choose/],
    [
      "Input/output error (os error 5)",
      /^The disk, or what leads to it, has failed .*\nOf what was written until then parts may be missing\. Choose/,
    ],
  ] as const;
  for (const [said, told] of disks) {
    const { text, exitCode } = failure(new Error(said), false);
    assert.match(text, told);
    assert.match(text, / another place with -o PATH\.\n$/);
    assert.equal(exitCode, 1, said);
  }
});

Deno.test("failure: other numbers and names of the system are no limits of a disk", () => {
  for (const said of ["No such device or address (os error 6)", "Level 2 halted (os error 51)", "ENOENT: no such file or directory, open 'EIO: a'"]) {
    assert.match(failure(new Error(said), false).text, /^llmprof failed: .* That is a fault of llmprof's own\.\n/);
  }
});

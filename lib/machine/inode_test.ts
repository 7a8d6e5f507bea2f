import assert from "node:assert/strict";
import { inodeNumber } from "./inode.ts";

Deno.test("inode: neighbours above 2^53 have numbers of their own, and ordinary ones stay what they are", () => {
  assert.deepEqual(["144115205322833921", "144115205322833922", "18446744073709551615"].map(inodeNumber), [
    Number(144115205322833921n % 9007199254740881n),
    Number(144115205322833922n % 9007199254740881n),
    Number(18446744073709551615n % 9007199254740881n),
  ]);
  assert.deepEqual(["0", "173521", "9007199254740880"].map(inodeNumber), [0, 173521, 9007199254740880]);
});

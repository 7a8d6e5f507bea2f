import assert from "node:assert/strict";
import { parseDisks } from "./disks.ts";

Deno.test("disks: requests that a disk has now, of those that ever had any", () => {
  const text = `   7       0 loop0 44 8 3528 199 23 0 19 27 3 554 226 0 0 0 0 0 0
   7       1 loop1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 259       2 nvme0n1p1 10 3 140 1 0 0 0 0 0 21 18
`;
  assert.deepEqual(parseDisks(text), [{ dev: 7 * 2 ** 20, name: "loop0", requests: 3 }, { dev: 259 * 2 ** 20 + 2, name: "nvme0n1p1", requests: 0 }]);
  assert.deepEqual(parseDisks(""), []);
});

Deno.test("disks: requests that go one way to a disk are that disk's", () => {
  const text = `259 0 nvme0c1n1 10 3 140 1 0 0 0 0 2 21 18\n259 1 nvme0n1 10 3 140 1 0 0 0 0 0 21 18\n`;
  assert.deepEqual(parseDisks(text).map(({ name, requests }) => [name, requests]), [["nvme0n1", 2], ["nvme0n1", 0]]);
});

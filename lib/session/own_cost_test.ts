import assert from "node:assert/strict";
import { noRoom } from "../../tests/harness/fake_child.ts";
import { FolderFiles } from "../../tests/harness/folder_files.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { cpuSeconds, skippedHits } from "./own_cost.ts";

Deno.test("own cost: user and system time in seconds, and hits that the kernel skipped in all programs together", async () => {
  using root = temporary();
  Deno.mkdirSync(root.file("proc/7/fdinfo"), { recursive: true });
  Deno.writeTextFileSync(root.file("proc/7/stat"), "7 (a) b) S 1 1 1 0 -1 0 1 0 1 0 150 25 9 9 20 0 1 0 5 6 7\n");
  Deno.writeTextFileSync(root.file("proc/7/fdinfo/3"), "prog_type:\t5\nrecursion_misses:\t2\n");
  Deno.writeTextFileSync(root.file("proc/7/fdinfo/4"), "pos:\t0\n");
  Deno.writeTextFileSync(root.file("proc/7/fdinfo/5"), "prog_type:\t5\nrecursion_misses:\t40\n");
  const files = new FolderFiles(root.path);
  assert.equal(await cpuSeconds(files, 7), 1.75);
  assert.equal(await skippedHits(files, 7), 42);
  assert.deepEqual([await cpuSeconds(files, 8), await skippedHits(files, 8)], [0, 0]);
});

Deno.test("own cost: where no process can be started to look it is no number", async () => {
  const files = Object.assign(new FolderFiles("/nowhere"), { text: noRoom, list: noRoom });
  assert.deepEqual([await cpuSeconds(files, 7), await skippedHits(files, 7)], [NaN, NaN]);
});

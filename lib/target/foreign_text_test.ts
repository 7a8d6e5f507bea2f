import assert from "node:assert/strict";
import { temporary } from "../../tests/harness/temporary.ts";
import { ReaderFiles } from "../machine/reader_files.ts";
import { foreignText } from "./foreign_text.ts";

Deno.test("foreign text: of regular files alone, and no more than a bounded part, whatever somebody has put there", async () => {
  using folder = temporary();
  Deno.writeTextFileSync(folder.file("file"), "said");
  Deno.symlinkSync("file", folder.file("link"));
  Deno.symlinkSync("/dev/zero", folder.file("zero"));
  const made = await new Deno.Command("mkfifo", { args: [folder.file("pipe")] }).output();
  assert.ok(made.success);
  Deno.writeTextFileSync(folder.file("long"), "");
  Deno.truncateSync(folder.file("long"), 2 ** 40);
  const files = new ReaderFiles();
  const said = (name: string) => foreignText(files, folder.file(name));
  assert.deepEqual(await Promise.all(["file", "link", "zero", "pipe", "absent", "."].map(said)), ["said", "said", null, null, null, null]);
  assert.equal((await said("long"))!.length, 2 ** 24);
});

Deno.test("foreign text: a pipe that takes a file's place behind the look at it keeps nobody waiting", async () => {
  using folder = temporary();
  const path = folder.file("version.py");
  const { success } = await new Deno.Command("mkfifo", { args: [path] }).output();
  assert.ok(success);
  const files = new ReaderFiles();
  files.modes = (paths) => Promise.resolve(new Map(paths.map((path) => [path, 0o644])));
  assert.equal(await foreignText(files, path), "");
});

import assert from "node:assert/strict";
import { noRoom } from "../../tests/harness/fake_child.ts";
import { FolderFiles } from "../../tests/harness/folder_files.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { FilesOnce } from "./files_once.ts";

const MIB = 1 << 20;

Deno.test("files once: any piece of a file, as it is in the file, and each block of it read once", async () => {
  using folder = temporary();
  const content = new Uint8Array(3 * MIB + 1234).map((_, i) => (i * 7 + (i >> 9)) & 255);
  Deno.writeFileSync(folder.file("library"), content);
  const reads: string[] = [];
  const plain = new FolderFiles(folder.path);
  const counted = Object.assign(Object.create(plain), {
    bytes: (path: string, offset: number, length: number) => (reads.push(`${offset} ${length}`), plain.bytes(path, offset, length)),
  });
  const files = new FilesOnce(counted);
  const pieces = [[0, 64], [MIB - 10, 10], [MIB - 10, 20], [3 * MIB, 1234], [3 * MIB + 1200, 500], [2 * MIB - 1, MIB + 1], [4 * MIB, 5], [
    7,
    0,
  ]] as const;
  for (const [offset, length] of pieces) {
    assert.deepEqual(await files.bytes("/library", offset, length), content.slice(offset, offset + length), `${length} bytes at ${offset}`);
  }
  assert.deepEqual(reads.filter((read) => read.startsWith("0 ")).length, 1);
  assert.deepEqual(await files.bytes("/library", 5, 3 * MIB), content.slice(5, 5 + 3 * MIB), "longer than what is read at once");
  assert.equal(await files.bytes("/none", 0, 4), null);
});

Deno.test("files once: a text and a link are those of the first look", async () => {
  using folder = temporary();
  Deno.writeTextFileSync(folder.file("maps"), "before");
  Deno.symlinkSync("one", folder.file("exe"));
  const files = new FilesOnce(new FolderFiles(folder.path));
  assert.deepEqual([await files.text("/maps"), await files.link("/exe")], ["before", "one"]);
  Deno.writeTextFileSync(folder.file("maps"), "after");
  Deno.removeSync(folder.file("exe"));
  assert.deepEqual([await files.text("/maps"), await files.link("/exe")], ["before", "one"]);
});

Deno.test("files once: what could not be read is read again when it is asked for again", async () => {
  using folder = temporary();
  Deno.writeTextFileSync(folder.file("library"), "library");
  const plain = new FolderFiles(folder.path);
  const files = new FilesOnce(plain);
  plain.bytes = noRoom;
  await assert.rejects(files.bytes("/library", 0, 3));
  plain.bytes = FolderFiles.prototype.bytes;
  assert.deepEqual(await files.bytes("/library", 0, 3), new TextEncoder().encode("lib"));
});

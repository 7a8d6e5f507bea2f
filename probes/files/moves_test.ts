import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { whoIs } from "../../lib/programs/who.ts";
import { moves } from "./moves.ts";

const model = { dev: 8, inode: 7 };

Deno.test("moves: what is sent, spliced and copied is read, what is fetched ahead is not yet", () => {
  const d = new Decoding(moves);
  d.event(2, "files/moves.moved", { ...model, began: 1, call: 1, bytes: 3 });
  d.fact(10, { fact: "opened", pid: 100, files: [{ ...model, file: "small.gguf" }] });
  for (const call of [1, 2, 3]) d.event(20 + call, "files/moves.moved", { ...model, began: 20, call, bytes: 512 });
  for (const call of [4, 5]) d.event(30 + call, "files/moves.fetched", { ...model, began: 30, call, bytes: 4096 }, "100/101");
  assert.deepEqual(d.end(50), [
    '100/100 file.read "sendfile inode 7" 1–2 file=inode 7 dev=8 inode=7 bytes=3',
    '100/100 file.read "sendfile small.gguf" 20–21 file=small.gguf dev=8 inode=7 bytes=512',
    '100/100 file.read "splice small.gguf" 20–22 file=small.gguf dev=8 inode=7 bytes=512',
    '100/100 file.read "copy_file_range small.gguf" 20–23 file=small.gguf dev=8 inode=7 bytes=512',
    '100/101 file.fetch "readahead small.gguf" 30–34 file=small.gguf dev=8 inode=7 bytes=4096',
    '100/101 file.fetch "posix_fadvise small.gguf" 30–35 file=small.gguf dev=8 inode=7 bytes=4096',
  ]);
});

Deno.test("moves: what had not returned when the window was shut is open until then", () => {
  const d = new Decoding(moves);
  for (const call of [1, 4]) d.event(50, "files/moves.still", { ...model, thread: whoIs(100, 100 + call), began: 20 + call, call });
  const told = d.ending(60).map((span) => span.type === "slice" && [span.track.tid, span.name, span.category, span.start, span.end, span.open]);
  assert.deepEqual(told, [[101, "sendfile inode 7", "file.read", 21, 50, true], [104, "readahead inode 7", "file.fetch", 24, 50, true]]);
});

import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { whoIs } from "../../lib/programs/who.ts";
import { access } from "./access.ts";

const model = { dev: 8, inode: 7 };
const library = { dev: 8, inode: 9, name: "libllama.so.1" };

Deno.test("access: opened, read and mapped under the name that came first", () => {
  const d = new Decoding(access);
  d.event(5, "files/access.read", { ...model, began: 4, bytes: 3 });
  d.event(12, "files/access.open", { ...model, began: 10, fd: 3, size: 5000, name: "small.gguf" });
  d.event(22, "files/access.read", { ...model, began: 20, bytes: 512 });
  d.event(32, "files/access.map", { ...model, began: 30, address: 0x7000, length: 8192, prot: 1, name: "small.gguf" }, "100/101");
  d.event(42, "files/access.anonymous", { began: 40, address: 0x9000, length: 1 << 20 });
  assert.deepEqual(d.end(50), [
    '100/100 file.read "read inode 7" 4–5 file=inode 7 dev=8 inode=7 bytes=3',
    '100/100 file.open "open small.gguf" 10–12 file=small.gguf dev=8 inode=7 bytes=5000',
    '100/100 file.read "read small.gguf" 20–22 file=small.gguf dev=8 inode=7 bytes=512',
    '100/101 file.map "mmap small.gguf" 30–32 file=small.gguf dev=8 inode=7 bytes=8192 address=28672',
    '100/100 memory.map "mmap" 40–42 bytes=1048576 address=36864',
  ]);
});

Deno.test("access: what had not returned when the window was shut is open until then", () => {
  const d = new Decoding(access);
  d.event(5, "files/access.open", { ...model, began: 4, name: "small.gguf" });
  d.event(50, "files/access.reading", { ...model, thread: whoIs(100, 101), began: 20 });
  d.event(50, "files/access.mapping", { ...model, thread: whoIs(100, 102), began: 30, length: 8192 });
  const told = d.ending(60).flatMap((span) =>
    span.type === "slice" && span.open ? [[span.track.tid, span.name, span.category, span.start, span.end]] : []
  );
  assert.deepEqual(told, [[101, "read small.gguf", "file.read", 20, 50], [102, "mmap small.gguf", "file.map", 30, 50]]);
});

Deno.test("access: a library is loaded from its opening on, piece by piece, on the thread that opened it", () => {
  const d = new Decoding(access);
  d.event(11, "files/access.open", { ...library, began: 10, size: 4096 });
  d.event(13, "files/access.map", { ...library, began: 12, length: 4096, prot: 1 });
  d.event(15, "files/access.map", { ...library, began: 14, length: 8192, prot: 5 });
  d.event(17, "files/access.map", { ...library, began: 16, length: 4096, prot: 1 }, "100/101");
  assert.deepEqual(d.told().slice(1), [
    '100/100 library.load "libllama.so.1" 10–13 file=libllama.so.1 dev=8 inode=9 bytes=4096',
    '100/100 library.load "libllama.so.1" 14–15 file=libllama.so.1 dev=8 inode=9 bytes=8192',
    '100/101 library.load "libllama.so.1" 16–17 file=libllama.so.1 dev=8 inode=9 bytes=4096',
  ]);
});

Deno.test("access: what is mapped for execution is a library whatever its name, an addon too, and a model never", () => {
  const d = new Decoding(access);
  d.event(2, "files/access.map", { ...model, began: 1, prot: 5, name: "node" });
  d.event(4, "files/access.map", { dev: 8, inode: 10, began: 3, prot: 1, name: "llama-addon.node" });
  d.event(6, "files/access.map", { dev: 8, inode: 11, began: 5, prot: 3, name: "x.so.gguf-part" });
  assert.deepEqual(d.told().map((line) => line.split(" ")[1]), ["library.load", "library.load", "file.map"]);
});

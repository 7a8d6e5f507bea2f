import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { whoIs } from "../../lib/programs/who.ts";
import { access } from "../files/access.ts";
import { cache } from "./cache.ts";
import { lock } from "./lock.ts";

Deno.test("lock: how much, how long, and whether the kernel refused", () => {
  const d = new Decoding(lock);
  d.event(30, "memory/lock.lock", { began: 10, length: 17 << 20 });
  d.event(50, "memory/lock.lock", { began: 40, length: 4096, ret: -12 });
  assert.deepEqual(d.end(60), [
    '100/100 memory.lock "mlock" 10–30 bytes=17825792 errno=0',
    '100/100 memory.lock "mlock" 40–50 bytes=4096 errno=12',
  ]);
});

Deno.test("lock: what fills a mapping names the file that lies there", () => {
  const d = new Decoding(lock, access);
  d.event(1, "files/access.map", { address: 4096, length: 8192, dev: 8, inode: 7, name: "small.gguf" });
  d.event(30, "memory/lock.at", { address: 8192 });
  d.event(30, "memory/lock.lock", { began: 10, length: 4096 });
  d.event(40, "memory/lock.at", { address: 4096 });
  d.event(40, "memory/lock.advised", { began: 30, length: 8192, advice: 22 });
  d.event(50, "memory/lock.at", { address: 16384 });
  d.event(50, "memory/lock.advised", { began: 40, length: 4096, advice: 3, ret: -12 });
  assert.deepEqual(d.end(60), [
    '100/100 memory.lock "mlock" 10–30 file=small.gguf dev=8 inode=7 bytes=4096 errno=0',
    '100/100 memory.fill "madvise (populate_read)" 30–40 file=small.gguf dev=8 inode=7 bytes=8192 errno=0',
    '100/100 memory.fill "madvise (willneed)" 40–50 bytes=4096 errno=12',
  ]);
});

Deno.test("lock: what had not returned when the window was shut is open until then", () => {
  const d = new Decoding(lock, access);
  d.event(1, "files/access.map", { address: 4096, length: 8192, dev: 8, inode: 7, name: "small.gguf" });
  for (const advice of [0, 22]) {
    d.event(50, "memory/lock.still", { thread: whoIs(100, 101), began: 10 + advice, address: 4096, length: 8192, advice });
  }
  const told = d.ending(60).flatMap((span) =>
    span.type === "slice" && span.open ? [[span.name, span.category, span.start, span.end, span.args?.file]] : []
  );
  assert.deepEqual(told, [["mlock", "memory.lock", 10, 50, "small.gguf"], ["madvise (populate_read)", "memory.fill", 32, 50, "small.gguf"]]);
});

Deno.test("cache: a counter for each file, by the name that its opening or mapping told", () => {
  const d = new Decoding(cache, access);
  d.event(1, "files/access.open", { dev: 8, inode: 7, name: "small.gguf" });
  d.event(2, "files/access.map", { dev: 8, inode: 9, name: "libllama.so" }, "101");
  d.snapshot(10, "memory/cache.cached", [8, 7], 4096);
  d.snapshot(20, "memory/cache.cached", [8, 9], 8192);
  d.snapshot(20, "memory/cache.cached", [8, 11], 12288);
  assert.deepEqual(d.end(30), [
    "100 <page cache filled: small.gguf> = 4096 at 10",
    "100 <page cache filled: libllama.so> = 8192 at 20",
    "100 <page cache filled: inode 11> = 12288 at 20",
  ]);
});

Deno.test("cache: another turn has a program of its own, which counts from 0", () => {
  const d = new Decoding(cache, access);
  d.event(1, "files/access.open", { dev: 8, inode: 7, name: "small.gguf" });
  d.snapshot(10, "memory/cache.cached", [8, 7], 4096);
  d.stream = "another";
  d.snapshot(20, "memory/cache.cached", [8, 7], 4096);
  d.snapshot(30, "memory/cache.cached", [8, 7], 8192);
  assert.deepEqual(d.end(40), [10, 20, 30].map((at, i) => `100 <page cache filled: small.gguf> = ${4096 * (i + 1)} at ${at}`));
});

Deno.test("cache: a file that is read before its opening is told has one row, and files of one name have two", () => {
  const d = new Decoding(cache, access);
  d.snapshot(10, "memory/cache.cached", [8, 7], 4096);
  d.event(12, "files/access.open", { dev: 8, inode: 7, name: "config.json" });
  d.event(13, "files/access.open", { dev: 8, inode: 9, name: "config.json" });
  d.snapshot(20, "memory/cache.cached", [8, 7], 4096);
  d.snapshot(20, "memory/cache.cached", [8, 9], 8192);
  d.snapshot(20, "memory/cache.cached", [8, 11], 4096);
  d.snapshot(30, "memory/cache.cached", [8, 9], 16384);
  d.snapshot(30, "memory/cache.cached", [8, 11], 4096);
  assert.deepEqual(d.end(40), [
    "100 <page cache filled: config.json> = 4096 at 10",
    "100 <page cache filled: config.json (inode 9)> = 8192 at 20",
    "100 <page cache filled: config.json (inode 9)> = 16384 at 30",
    "100 <page cache filled: inode 11> = 4096 at 20",
  ]);
});

/** Files that are read in every way, buffered, past the cache, mapped and ahead, beside the book that the program keeps. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { built } from "../setup/programs.ts";
import { dropFromCache } from "../workloads/pagecache.ts";
import { startLlmprof, summaryOf } from "./live_run.ts";

/** Bytes: none but the second is a multiple of a block. */
const SIZES = { buffered: 5_000_011, direct: 1009 * 4096, mapped: 3_000_017, ahead: 4_000_037 };

interface Book {
  readonly file: string;
  readonly reads: number;
  readonly bytes: number;
  readonly mapped: number;
  readonly fetched: number;
}

for (const [index, isCold] of [false, true].entries()) {
  sampledTest(index, `io: reads of files are those of the program's book, ${isCold ? "from the disk" : "in memory"}`, {}, async ({ path }) => {
    using folder = temporary();
    for (const [name, size] of Object.entries(SIZES)) {
      Deno.writeFileSync(folder.file(name), new Uint8Array(size).fill(7));
      if (isCold) assert.equal(await dropFromCache(folder.file(name)), 0, "the file lies on a disk");
    }
    await using llmprof = startLlmprof("io", { bpftrace: path, folder, target: { argv: [built.reads, folder.path] }, formats: [] });
    const ended = await llmprof.finished();
    const { result, events } = summaryOf("io", ended);
    assert.equal(events.lost, events.skipped);
    const books: Book[] = ended.stderr.split("\n").filter((line) => line.startsWith('{"file"')).map((line) => JSON.parse(line));
    assert.deepEqual(books.map(({ file }) => file), Object.keys(SIZES));
    const told = result.files.filter(({ file }) => file in SIZES).map(({ file, reads, readBytes, mappedBytes, fetchedBytes }) => (
      { file, reads, bytes: readBytes, mapped: mappedBytes, fetched: fetchedBytes }
    ));
    const byName = (rows: readonly Book[]) => rows.toSorted((a, b) => a.file < b.file ? -1 : 1);
    assert.deepEqual(byName(told), byName(books));
    // What came into the cache, in whole pages; what is read past it does not, and nothing does twice.
    const cached = Object.fromEntries(result.files.flatMap(({ file, cachedBytes }) => file in SIZES ? [[file, cachedBytes ?? 0]] : []));
    const whole = ([name, size]: [string, number]) => [name, isCold && name !== "direct" ? Math.ceil(size / 4096) * 4096 : 0];
    assert.deepEqual(cached, Object.fromEntries(Object.entries(SIZES).map(whole)));
  });
}

/** An overlay over two file systems puts their number above 63 bits of an inode. */
const overlay = `mount -t tmpfs none /mnt && mkdir /mnt/upper /mnt/work /mnt/all &&
mount -t overlay -o xino=on,lowerdir="$1",upperdir=/mnt/upper,workdir=/mnt/work none /mnt/all && cd /mnt/all && stat -c %i * >&2 && md5sum *`;

sampledTest(1, "io: files whose inodes are neighbours above 2^53 are told apart", {}, async ({ path }) => {
  using folder = temporary();
  const sizes = { "first.gguf": 70_001, "second.gguf": 80_003 };
  const lower = folder.file("lower");
  Deno.mkdirSync(lower);
  for (const [name, size] of Object.entries(sizes)) Deno.writeFileSync(join(lower, name), new Uint8Array(size).fill(7));
  const argv = ["unshare", "--mount", "sh", "-c", overlay, "sh", lower];
  await using llmprof = startLlmprof("io", { bpftrace: path, folder, target: { argv }, formats: [] });
  const ended = await llmprof.finished();
  const inodes = ended.stderr.match(/^\d+$/gm)!.map(BigInt);
  assert.deepEqual(inodes.map((inode) => inode > 2n ** 53n), [true, true], ended.stderr);
  const { result } = summaryOf("io", ended);
  assert.deepEqual(Object.fromEntries(result.files.flatMap(({ file, readBytes }) => file in sizes ? [[file, readBytes]] : [])), sizes);
});

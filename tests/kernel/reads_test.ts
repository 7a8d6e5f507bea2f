/** Files that are read in every way, buffered, past the cache, mapped and ahead, beside the book that the program keeps. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { IoResult } from "../../lib/analysis/io_schema.ts";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { enteringOnce } from "../independent/entered.ts";
import { built } from "../setup/programs.ts";
import { dropFromCache } from "../workloads/pagecache.ts";
import { fileSystem, loopDevice, slowReads } from "./loop_device.ts";
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
    // What comes into the cache, in whole pages; what is read past it does not, and nothing does twice.
    const whole = ([name, size]: [string, number]): [string, number] => [name, isCold && name !== "direct" ? Math.ceil(size / 4096) * 4096 : 0];
    const once = Object.fromEntries(Object.entries(SIZES).map(whole));
    for (const [name, size] of Object.entries(SIZES)) Deno.writeFileSync(folder.file(name), new Uint8Array(size).fill(7));
    const prepare = async (file: string) => {
      if (isCold) assert.equal(await dropFromCache(file), 0, "the file lies on a disk");
      else await Deno.readFile(file);
    };
    const byPath = Object.fromEntries(Object.entries(once).map(([name, bytes]) => [folder.file(name), bytes]));
    const ended = await enteringOnce(path, byPath, prepare, async () => {
      await using llmprof = startLlmprof("io", { bpftrace: path, folder, target: { argv: [built.reads, folder.path] }, formats: [] });
      return await llmprof.finished();
    });
    const { result, events } = summaryOf("io", ended);
    assert.equal(events.lost, events.skipped);
    const books: Book[] = ended.stderr.split("\n").filter((line) => line.startsWith('{"file"')).map((line) => JSON.parse(line));
    assert.deepEqual(books.map(({ file }) => file), Object.keys(SIZES));
    const told = result.files.filter(({ file }) => file in SIZES).map(({ file, reads, readBytes, mappedBytes, fetchedBytes }) => (
      { file, reads, bytes: readBytes, mapped: mappedBytes, fetched: fetchedBytes }
    ));
    const byName = (rows: readonly Book[]) => rows.toSorted((a, b) => a.file < b.file ? -1 : 1);
    assert.deepEqual(byName(told), byName(books));
    const cached = Object.fromEntries(result.files.flatMap(({ file, cachedBytes }) => file in SIZES ? [[file, cachedBytes ?? 0]] : []));
    assert.deepEqual(cached, once);
  });
}

/**
 * Reads one file by thirds of a megabyte and locks another one in memory, and says how many nanoseconds each took by its own clock, and for how many
 * of them nobody gave it a processor.
 */
const TIMED = `
import ctypes, json, mmap, os, time
libc, SIZE = ctypes.CDLL(None), 1 << 20
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mlock.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
def delay():
    with open("/proc/self/schedstat") as account: return int(account.read().split()[1])
def timed(call, *args):
    before, began = delay(), time.monotonic_ns()
    result = call(*args)
    return {"ns": time.monotonic_ns() - began, "delay": delay() - before}, result
fd, buffer = os.open("read", os.O_RDONLY), bytearray(SIZE // 3 + 1)
reads = [timed(os.readv, fd, [buffer]) for _ in range(3)]
mapped = libc.mmap(None, SIZE, mmap.PROT_READ, mmap.MAP_SHARED, os.open("lock", os.O_RDONLY), 0)
lock, failed = timed(libc.mlock, mapped, SIZE)
print(json.dumps({"reads": [times for times, _ in reads], "bytes": sum(got for _, got in reads), "lock": lock, "failed": failed}))`;

/** Nanoseconds by a program's own clock, and for how many of them it waited for a processor at most. */
interface Timed {
  readonly ns: number;
  readonly delay: number;
}

sampledTest(
  1,
  "io: reads of a slow disk, and memory locked from there, last as long as by the program's own clock",
  { fio: true, groups: true },
  async ({ path }) => {
    using folder = temporary();
    await using device = await loopDevice(folder, 16);
    const size = 1 << 20, original = folder.file("original");
    Deno.writeFileSync(original, new Uint8Array(size).fill(7));
    await using disk = await fileSystem(device, folder, { read: original, lock: original });
    using group = slowReads(device, 2 << 20);
    const argv = ["sh", "-c", `echo $$ > ${group.tasks}; cd ${disk.path}; exec python3 -c "$1"`, "sh", TIMED];
    await using llmprof = startLlmprof("io", { bpftrace: path, folder, target: { argv }, formats: [], flags: ["--no-output"] });
    const ended = await llmprof.finished();
    const { result } = summaryOf("io", ended);
    const said = JSON.parse(/^\{"reads".*$/m.exec(ended.stderr)![0]) as { reads: Timed[]; bytes: number; lock: Timed; failed: number };
    assert.deepEqual([said.bytes, said.failed], [size, 0]);
    const [read, lock] = ["read", "lock"].map((name) => result.files.find(({ file }) => file === name)!) as [
      IoResult["files"][number],
      IoResult["files"][number],
    ];
    const fill = lock.fills.find(({ call }) => call === "mlock")!, call = result.memoryCalls.find(({ kind }) => kind === "mlock")!;
    assert.deepEqual([read.reads, read.readBytes, fill.calls, fill.bytes, call.calls, result.locks.lockedBytes], [3, size, 1, size, 1, size]);
    const all = said.reads.reduce((sum, { ns, delay }) => ({ ns: sum.ns + ns, delay: sum.delay + delay }));
    const longest = said.reads.reduce((a, b) => a.ns > b.ns ? a : b);
    assert.ok(all.ns > 0.2e9 && said.lock.ns > 0.2e9, JSON.stringify(said));
    for (const [told, { ns, delay }] of [[read.readNs, all], [read.readP99Ns!, longest], [fill.ns, said.lock], [call.ns, said.lock]] as const) {
      const apart = ns - told;
      assert.ok(apart >= 0 && apart < Math.max(0.02 * ns, 5e6) + delay, `${told} ns, ${ns} by the program's clock, ${delay} without a processor`);
    }
  },
);

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

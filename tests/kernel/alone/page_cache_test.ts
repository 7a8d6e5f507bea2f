/** What a model's load brings into memory: by llmprof, by mincore, and by the kernel's account of the process. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { sampledTest } from "../../harness/kernel.ts";
import { cache } from "../../harness/places.ts";
import { temporary } from "../../harness/temporary.ts";
import { enteringOnce } from "../../independent/entered.ts";
import { engineCommand } from "../../workloads/engine_run.ts";
import { model, writeModel } from "../../workloads/model.ts";
import { dropFromCache } from "../../workloads/pagecache.ts";
import { shapes } from "../../workloads/shapes.ts";
import { compareSeen, hiddenAnswers } from "../hidden_hits.ts";
import { startLlmprof, summaryOf } from "../live_run.ts";
import { lastOfThree } from "../last_of_three.ts";
import { fileSystem, loopDevice } from "../loop_device.ts";
import { type PageCacheRun, pageCacheRun } from "./page_cache_run.ts";

/** The cache holds whole pages. */
const inPages = (bytes: number) => Math.ceil(bytes / 4096) * 4096;

sampledTest(
  1,
  "bytes that enter the page cache are those that mincore finds, cold and warm",
  { engine: true, gcc: true },
  async ({ path: bpftrace }) => {
    // A file of its own: pages that another process has mapped cannot be dropped.
    const path = join(cache, "models", "page-cache.gguf");
    writeModel(path, shapes.small);

    const cold = await runOf(bpftrace, path, async () => {
      assert.equal(await dropFromCache(path), 0, "the model lies on a disk and nobody has it mapped");
    });
    assert.equal(cold.before, 0);
    assert.ok(cold.after > 0);
    assert.equal(cold.entered - cold.evicted, inPages(cold.after));

    // All of it: what was evicted comes in again.
    const warm = await runOf(bpftrace, path, async () => void await Deno.readFile(path));
    assert.equal(warm.entered - warm.evicted, inPages(warm.after) - inPages(warm.before));
  },
);

sampledTest(1, "io: a model that is loaded from its disk, as much of it as the disk counts, and one that is in memory", {
  engine: true,
  fio: true,
}, async ({ path: bpftrace }) => {
  using folder = temporary();
  await using device = await loopDevice(folder, 192);
  const original = model("small"), { size } = Deno.statSync(original);
  await using disk = await fileSystem(device, folder, { "weights.gguf": original });
  const load = async () => {
    using hidden = hiddenAnswers(device);
    const before = device.stat();
    await using llmprof = startLlmprof("io", {
      bpftrace,
      folder,
      target: { argv: engineCommand({ model: join(disk.path, "weights.gguf"), tokens: 1 }) },
      formats: [],
    });
    const { result, events } = summaryOf("io", await llmprof.finished());
    const bytes = device.stat().readBytes - before.readBytes;
    const told = result.devices.find((row) => row.device === device.number && row.what === "read")?.bytes ?? 0;
    const cached = result.files.find((row) => row.file === "weights.gguf")!.cachedBytes ?? 0;
    return { figures: { bytes, told, cached }, isSeen: told === bytes || hidden.count() + events.skipped! === 0 };
  };
  await compareSeen(async () => {
    await disk.remount();
    const { figures, isSeen } = await load();
    if (!isSeen) return false;
    const { bytes, told, cached } = figures;
    assert.ok(bytes >= size);
    assert.deepEqual([told, cached], [bytes, inPages(size)]);
    return true;
  });
  // Mostly none: a machine may let go of some of it at any time.
  const { bytes, told, cached } = (await load()).figures;
  assert.deepEqual([told, cached], [bytes, inPages(bytes)]);
  assert.ok(bytes < size / 10, `${bytes} of ${size} bytes came from the disk again`);
});

sampledTest(1, "io: what a program writes and reads back comes from no disk, what it reads for the first time does", {}, async ({ path }) => {
  using folder = temporary();
  const [read, written] = [folder.file("read"), folder.file("written")];
  Deno.writeFileSync(read, new Uint8Array(3 << 20));
  Deno.writeFileSync(written, new Uint8Array());
  const script = `dd if=/dev/zero of=${written} bs=1M count=7 status=none; cat ${written} ${read} > /dev/null`;
  // What it writes comes into the cache, too.
  const ended = await enteringOnce(path, { [read]: 3 << 20, [written]: 7 << 20 }, dropFromCache, async () => {
    await using llmprof = startLlmprof("io", { bpftrace: path, folder, target: { argv: ["sh", "-c", script] }, formats: [] });
    return await llmprof.finished();
  });
  const { result } = summaryOf("io", ended);
  const told = (name: string) => result.files.filter(({ file }) => file === name).map(({ readBytes, cachedBytes }) => [readBytes, cachedBytes]);
  assert.deepEqual([told("written"), told("read")], [[[7 << 20, 0]], [[3 << 20, 3 << 20]]]);
});

/**
 * In which what enters is what the engine reads from disks, by the kernel's account of it, also when all of the model is there: a machine may page out the
 * engine's own files at any time. One of three runs, for it may drop folders as well, and those that are read again are no file's.
 */
async function runOf(bpftrace: string, path: string, prepare: () => Promise<void>): Promise<PageCacheRun> {
  // All but what the engine reads after it has told its count: code of its exit that the machine has paged out. Mostly none.
  const later = ({ enteredOfAll, readBytes }: PageCacheRun) => enteredOfAll - readBytes;
  const isWhatWasRead = (run: PageCacheRun) => later(run) >= 0 && later(run) <= 1 << 20;
  const last = await lastOfThree(() => pageCacheRun(bpftrace, path, prepare), isWhatWasRead);
  assert.ok(isWhatWasRead(last), `${last.readBytes} bytes read, ${last.enteredOfAll} entered`);
  return last;
}

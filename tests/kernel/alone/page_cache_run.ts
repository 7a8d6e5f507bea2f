import { basename } from "node:path";
import { temporary } from "../../harness/temporary.ts";
import { watchEvicted } from "../../independent/evicted.ts";
import { ATTEMPTS } from "../../independent/page_cache.ts";
import { parseEngineLog } from "../../workloads/engine_log.ts";
import { engineCommand } from "../../workloads/engine_run.ts";
import { residentBytes } from "../../workloads/pagecache.ts";
import { bootNow } from "../boot_clock.ts";
import { startLlmprof, summaryOf } from "../live_run.ts";

/** All in bytes, of one model's file. */
export interface PageCacheRun {
  /** Resident before and after, as mincore says. */
  readonly before: number;
  readonly after: number;
  /** What llmprof says has entered the page cache. */
  readonly entered: number;
  /** The same of every file that the engine used. */
  readonly enteredOfAll: number;
  /** What has left it meanwhile. */
  readonly evicted: number;
  /** What the kernel says that the engine has read from disks, of any file. */
  readonly readBytes: number;
}

/**
 * Loads a model under `coldstart` and looks before and after, when `prepare` has done its part. Begins anew where pages leave just while somebody looks:
 * mincore counts them or not.
 */
export async function pageCacheRun(bpftrace: string, path: string, prepare: () => Promise<void>): Promise<PageCacheRun> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    await prepare();
    const { between, value: { first, from, to, last, ...seen } } = await watchEvicted(bpftrace, path, async () => {
      const first = bootNow();
      const before = await residentBytes(path);
      const from = bootNow();
      const seen = await load(bpftrace, path);
      const to = bootNow();
      const after = await residentBytes(path);
      return { before, ...seen, after, first, from, to, last: bootNow() };
    });
    if (between(first, from) + between(to, last) === 0) return { ...seen, evicted: between(from, to) };
  }
  throw new Error(`This machine dropped pages of ${path} at each of ${ATTEMPTS} looks.`);
}

async function load(bpftrace: string, path: string): Promise<Pick<PageCacheRun, "entered" | "enteredOfAll" | "readBytes">> {
  using folder = temporary();
  // What it says goes to the terminal: a log would enter the page cache as well.
  const argv = engineCommand({ model: path, tokens: 1 });
  await using llmprof = startLlmprof("coldstart", { bpftrace, folder, target: { argv } });
  const finished = await llmprof.finished();
  const { pageCache } = summaryOf("coldstart", finished).result;
  return {
    entered: pageCache?.files.find(({ file }) => file === basename(path))?.bytes ?? 0,
    enteredOfAll: pageCache?.bytes ?? 0,
    readBytes: parseEngineLog(/^\{"pid":.*$/m.exec(finished.stderr)![0]).readBytes,
  };
}

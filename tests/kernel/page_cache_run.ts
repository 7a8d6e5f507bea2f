import { basename } from "node:path";
import { temporary } from "../harness/temporary.ts";
import { countEvicted } from "../independent/evicted.ts";
import { engineCommand } from "../workloads/engine_run.ts";
import { residentBytes } from "../workloads/pagecache.ts";
import { startLlmprof, summaryOf } from "./live_run.ts";

/** All in bytes, of one model's file. */
export interface PageCacheRun {
  /** Resident before and after, as mincore says. */
  readonly before: number;
  readonly after: number;
  /** What llmprof says has entered the page cache. */
  readonly entered: number;
  /** What has left it meanwhile. */
  readonly evicted: number;
  /** What the engine has read from disks, of any file, when the model was loaded. */
  readonly readBytes: number;
}

/** Loads a model under `coldstart` and looks before and after. */
export async function pageCacheRun(bpftrace: string, path: string): Promise<PageCacheRun> {
  const { evicted, value } = await countEvicted(bpftrace, path, async () => {
    const before = await residentBytes(path);
    const seen = await load(bpftrace, path);
    return { before, ...seen, after: await residentBytes(path) };
  });
  return { ...value, evicted };
}

async function load(bpftrace: string, path: string): Promise<{ entered: number; readBytes: number }> {
  using folder = temporary();
  const waitFile = folder.file("go");
  const argv = engineCommand({ model: path, tokens: 2, waitFile });
  await using llmprof = startLlmprof("coldstart", { bpftrace, folder, target: { argv } });
  await llmprof.saw('"waiting"');
  // While it lives.
  const pid = /"waiting":(\d+)/.exec(llmprof.stdout() + llmprof.stderr())![1];
  const readBytes = Number(/^read_bytes: (\d+)$/m.exec(Deno.readTextFileSync(`/proc/${pid}/io`))![1]);
  Deno.writeTextFileSync(waitFile, "");
  const { result } = summaryOf("coldstart", await llmprof.finished());
  return { entered: result.pageCache?.files.find(({ file }) => file === basename(path))?.bytes ?? 0, readBytes };
}

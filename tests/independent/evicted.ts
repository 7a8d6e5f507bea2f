import { trace } from "./trace.ts";

/** Bytes of a file that left the page cache meanwhile, whoever took them out: some machines page out what was not used for seconds. */
export async function countEvicted<T>(bpftrace: string, path: string, whileRunning: () => Promise<T>): Promise<{ evicted: number; value: T }> {
  const { ino } = Deno.statSync(path);
  const program = `tracepoint:filemap:mm_filemap_delete_from_page_cache /args->i_ino == ${ino}/ { @evicted = sum(4096 << args->order); }`;
  const { stdout, value } = await trace(bpftrace, program, whileRunning);
  return { evicted: Number(/^@evicted: (\d+)$/m.exec(stdout)?.[1] ?? 0), value };
}

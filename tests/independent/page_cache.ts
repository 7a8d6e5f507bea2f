import { mustRun } from "../harness/command.ts";
import { trace } from "./trace.ts";

/** How often who looks at pages begins anew where a machine has moved some of its own accord. */
export const ATTEMPTS = 5;

/** Which pages are looked at. */
export interface Watched {
  readonly event: "mm_filemap_add_to_page_cache" | "mm_filemap_delete_from_page_cache";
  /** Of these files. */
  readonly paths: readonly string[];
  /** What their bytes are added up by: a whole number, as bpftrace writes it. */
  readonly by: string;
}

export interface Pages<T> {
  readonly bytes: ReadonlyMap<number, number>;
  /** What `whileRunning` returned. */
  readonly value: T;
}

/** Bytes of files that come into the page cache or leave it, whoever moves them. */
export async function watchPages<T>(bpftrace: string, { event, paths, by }: Watched, whileRunning: () => Promise<T>): Promise<Pages<T>> {
  const theirs = paths.map((path) => `args->i_ino == ${Deno.statSync(path).ino}`).join(" || ");
  const program = `tracepoint:filemap:${event} /${theirs}/ { @bytes[${by}] = sum(${await bytesOf(event)}); }`;
  const { stdout, value } = await trace(bpftrace, program, whileRunning);
  const bytes = new Map([...stdout.matchAll(/^@bytes\[(\d+)\]: (\d+)$/gm)].map(([, key, sum]) => [Number(key), Number(sum)]));
  return { bytes, value };
}

/** A kernel before 5.17 tells of each page, a later one of several that belong together. */
async function bytesOf(event: string): Promise<string> {
  const page = (await mustRun(["getconf", "PAGESIZE"])).stdout.trim();
  return /\sorder;/.test(Deno.readTextFileSync(`/sys/kernel/tracing/events/filemap/${event}/format`)) ? `${page} << args->order` : page;
}

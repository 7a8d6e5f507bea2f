import assert from "node:assert/strict";
import { trace } from "./trace.ts";

const ATTEMPTS = 5;

/** How many bytes come into the page cache of a file when nobody takes any of it out, by its path. */
export type Once = Readonly<Record<string, number>>;

/**
 * What `run` returns, when `prepare` has brought these files into the page cache, or out of it. A machine may page out what was not used for seconds,
 * or drop all that it holds, and then it comes in again: begins anew where not as much has come as `once` says.
 */
export async function enteringOnce<T>(bpftrace: string, once: Once, prepare: (path: string) => Promise<unknown>, run: () => Promise<T>): Promise<T> {
  const paths = Object.keys(once), theirs = paths.map((path) => `args->i_ino == ${Deno.statSync(path).ino}`).join(" || ");
  const program = `tracepoint:filemap:mm_filemap_add_to_page_cache /${theirs}/ { @entered[args->i_ino] = sum(4096 << args->order); }`;
  for (let attempt = 1;; attempt++) {
    for (const path of paths) await prepare(path);
    const { stdout, value } = await trace(bpftrace, program, run);
    const entered = new Map([...stdout.matchAll(/^@entered\[(\d+)\]: (\d+)$/gm)].map(([, ino, bytes]) => [Number(ino), Number(bytes)]));
    const found = paths.map((path) => [path, entered.get(Deno.statSync(path).ino!) ?? 0]);
    if (found.every(([path, bytes]) => bytes === once[path!])) return value;
    assert.ok(attempt < ATTEMPTS, `Not once in any of ${ATTEMPTS} runs, at last ${found}, has come ${Object.entries(once)}.`);
  }
}

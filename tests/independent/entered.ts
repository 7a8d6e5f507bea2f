import assert from "node:assert/strict";
import { ATTEMPTS, watchPages } from "./page_cache.ts";

/** How many bytes come into the page cache of a file when nobody takes any of it out, by its path. */
export type Once = Readonly<Record<string, number>>;

/**
 * What `run` returns, when `prepare` has brought these files into the page cache, or out of it. A machine may page out what was not used for seconds,
 * or drop all that it holds, and then it comes in again: begins anew where not as much has come as `once` says.
 */
export async function enteringOnce<T>(bpftrace: string, once: Once, prepare: (path: string) => Promise<unknown>, run: () => Promise<T>): Promise<T> {
  const paths = Object.keys(once), entering = { event: "mm_filemap_add_to_page_cache", paths, by: "args->i_ino" } as const;
  for (let attempt = 1;; attempt++) {
    for (const path of paths) await prepare(path);
    const { bytes: entered, value } = await watchPages(bpftrace, entering, run);
    const found = paths.map((path) => [path, entered.get(Deno.statSync(path).ino!) ?? 0]);
    if (found.every(([path, bytes]) => bytes === once[path!])) return value;
    assert.ok(attempt < ATTEMPTS, `Not once in any of ${ATTEMPTS} runs, at last ${found}, has come ${Object.entries(once)}.`);
  }
}

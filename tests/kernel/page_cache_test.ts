/** What a model's load brings into memory: by llmprof, by mincore, and by the kernel's account of the process. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { matrixTest } from "../harness/kernel.ts";
import { cache } from "../harness/places.ts";
import { engineRun } from "../workloads/engine_run.ts";
import { writeModel } from "../workloads/model.ts";
import { dropFromCache } from "../workloads/pagecache.ts";
import { shapes } from "../workloads/shapes.ts";
import { pageCacheRun } from "./page_cache_run.ts";

/** The cache holds whole pages. */
const inPages = (bytes: number) => Math.ceil(bytes / 4096) * 4096;

matrixTest("bytes that enter the page cache are those that mincore finds, cold and warm", { engine: true, gcc: true }, async ({ path: bpftrace }) => {
  // A file of its own: pages that another process has mapped cannot be dropped.
  const path = join(cache, "models", "page-cache.gguf");
  writeModel(path, shapes.small);
  // The engine's own files are in memory from here on: what is read from the disk is the model.
  await engineRun({ model: path, tokens: 1 });
  assert.equal(await dropFromCache(path), 0, "the model lies on a disk and nobody has it mapped");

  const cold = await pageCacheRun(bpftrace, path);
  assert.equal(cold.before, 0);
  assert.ok(cold.after > 0);
  assert.equal(cold.entered - cold.evicted, inPages(cold.after));
  assert.ok(Math.abs(cold.readBytes / cold.entered - 1) <= 0.02, `${cold.readBytes} bytes read, ${cold.entered} entered`);

  // All of it: what was evicted comes in again, of the engine too (a machine may page out what lies idle for a minute).
  await engineRun({ model: path, tokens: 1 });
  Deno.readFileSync(path);
  const warm = await pageCacheRun(bpftrace, path);
  assert.equal(warm.entered - warm.evicted, inPages(warm.after) - inPages(warm.before));
  assert.ok(warm.readBytes <= 0.02 * Deno.statSync(path).size, `${warm.readBytes} bytes read`);
});

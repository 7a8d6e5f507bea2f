/** Targets of a size that nobody tries: every thread, every fork and every call is there, once. */
import assert from "node:assert/strict";
import { sampledTest } from "../../harness/kernel.ts";
import { temporary } from "../../harness/temporary.ts";
import { errors, query } from "../../judge/trace_processor.ts";
import { readSteadyLog, steadyCommand, type SteadyOptions } from "../../workloads/steady.ts";
import { built } from "../../setup/programs.ts";
import { outputPath, startLlmprof, summaryOf } from "../live_run.ts";

const needs = { gcc: true, judge: true };
/** Primes: a number found in a trace can only come from here. */
const [threads, forks, calls] = [10_007, 3001, 3];

/** Runs it to its end and returns its calls by thread, as the trace has them. */
async function crowd(bpftrace: string, options: Omit<SteadyOptions, "log">, deep = false): Promise<{ found: number[]; done: number | undefined }> {
  using folder = temporary();
  const log = folder.file("log");
  const library = deep ? asDeepAsCanBe(folder.path) : built.libllamaQuick;
  // As long an argument as the kernel takes: 128 KiB with its zero.
  const argv = ["/usr/bin/env", `LONGEST=${"x".repeat(131_071 - "LONGEST=".length)}`, ...steadyCommand({ log, library, ...options })];
  await using llmprof = startLlmprof("coldstart", { bpftrace, folder, target: { argv } });
  const { events, target } = summaryOf("coldstart", await llmprof.finished());
  assert.deepEqual([target?.argv, target?.exitCode], [argv, 0]);
  assert.deepEqual([events.lost, events.undecodable, events.received], [0, 0, events.emitted]);
  const path = outputPath(folder, "pftrace");
  assert.deepEqual(await errors(path), []);
  const rows = await query(
    path,
    "select count(*) as n from slice s join thread_track t on t.id = s.track_id where s.category = 'llama.decode' group by t.utid",
  );
  return { found: rows.map(({ n }) => Number(n)), done: readSteadyLog(log).done };
}

sampledTest(0, `${threads} threads at once, with an argument of 128 KiB: each one's calls are on its own row`, needs, async ({ path: bpftrace }) => {
  const { found, done } = await crowd(bpftrace, { threads, calls });
  assert.equal(done, threads * calls);
  assert.deepEqual([found.length, found.filter((n) => n !== calls)], [threads, []]);
});

sampledTest(1, `${forks} forks: each child's calls are its own`, needs, async ({ path: bpftrace }) => {
  const { found, done } = await crowd(bpftrace, { forks, calls });
  assert.equal(done, forks * calls);
  // A number that is used again is another process: counted together only where that happened.
  assert.equal(found.reduce((sum, n) => sum + n, 0), forks * calls);
  assert.ok(found.length > 0.9 * forks, `${found.length} rows`);
});

sampledTest(1, "a library whose path is as long as one can be: every call is there", needs, async ({ path: bpftrace }) => {
  const { found, done } = await crowd(bpftrace, { threads: 2, calls: 101 }, true);
  assert.deepEqual([done, found], [202, [101, 101]]);
});

/** A copy of the library; its path has 4095 bytes and a zero. */
function asDeepAsCanBe(folder: string): string {
  const name = "/libllama.so";
  let path = folder;
  while (path.length + name.length < 4095) {
    const left = 4095 - path.length - name.length;
    // Not all that is left but one byte: a name has one byte at least beside its slash.
    path += `/${"d".repeat(left > 240 ? 200 : left - 1)}`;
  }
  Deno.mkdirSync(path, { recursive: true });
  Deno.copyFileSync(built.libllamaQuick, path + name);
  assert.equal((path + name).length, 4095);
  return path + name;
}

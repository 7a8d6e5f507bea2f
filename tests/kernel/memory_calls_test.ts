/** Calls that ask for memory and give it back: as many as the program makes, and as much. */
import assert from "node:assert/strict";
import { sampledTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { query } from "../judge/trace_processor.ts";
import { built } from "../setup/programs.ts";
import { outputPath, startLlmprof, summaryOf } from "./live_run.ts";
import { untilTold } from "./until_told.ts";

const PAGE = 4096;

sampledTest(
  0,
  "io: mmap, munmap, mremap, mlock and madvise of a program that counts them, those that failed among them",
  { judge: true },
  async ({ path }) => {
    using folder = temporary();
    await using program = await untilTold(folder, [built.asked]);
    await using llmprof = startLlmprof("io", { bpftrace: path, folder, target: { pid: program.pid } });
    await llmprof.saw("Tracing");
    program.go();
    const { result, events } = summaryOf("io", await llmprof.finished());
    // Of the whole machine's hits, other tests' requests among them, the kernel may skip some; of these calls none, as the counts say.
    assert.equal(events.lost, events.skipped);
    // See asked.c; 27 of the 53 grow to five pages, the others shrink to three.
    const expected = [
      ["madvise (dontneed)", 307 + 13, 13, 307 * 2 * PAGE],
      ["madvise (willneed)", 29, 0, 29 * PAGE],
      ["mlock", 17, 0, 17 * PAGE],
      ["mlockall", 5 + 3, 3, 0],
      ["mmap of a file", 101, 0, 101 * 2 * PAGE],
      ["mmap of nothing", 211, 0, 211 * 3 * PAGE],
      ["mremap", 53, 0, (27 * 5 + 26 * 3) * PAGE],
      ["munlock", 11, 0, 11 * PAGE],
      ["munlockall", 7, 0, 0],
      ["munmap", 199, 0, 199 * 3 * PAGE],
    ];
    assert.deepEqual(result.memoryCalls.map(({ kind, calls, failed, bytes }) => [kind, calls, failed, bytes]).toSorted(), expected);
    assert.ok(result.memoryCalls.every(({ calls, ns }) => ns > calls * 50));
    const told = await query(outputPath(folder, "pftrace"), "select name from slice where category = 'memory.calls' order by name");
    assert.deepEqual(told.map(({ name }) => name), expected.map(([kind]) => kind));
  },
);

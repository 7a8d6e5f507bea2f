/** Files that a program answers for (FUSE): who waits for one as for a disk is woken by that program, and not by an interrupt. */
import assert from "node:assert/strict";
import { matrixTest } from "../harness/kernel.ts";
import { temporary } from "../harness/temporary.ts";
import { built } from "../setup/programs.ts";
import { startLlmprof, summaryOf } from "./live_run.ts";

matrixTest(
  "sched: who waits for a file of a program's, in a read and in a page fault, is woken by that program",
  { gcc: true, fuse: true },
  async ({ path: bpftrace }) => {
    using folder = temporary();
    const files = folder.file("files");
    Deno.mkdirSync(files);
    await using llmprof = startLlmprof("sched", { bpftrace, folder, target: { argv: [built.answers, files] } });
    const finished = await llmprof.finished();
    const { result } = summaryOf("sched", finished);
    for (const [reason, call] of [["disk", "pread64"], ["page fault", null]] as const) {
      const wait = result.waits.find((wait) => wait.reason === reason && wait.call === call);
      // Read ahead: who comes then may find the next piece.
      assert.ok(wait && wait.times >= 4, `${reason}: ${JSON.stringify(wait)}`);
      assert.deepEqual(wait.wakers.map(({ name }) => name), ["answers"], reason);
      assert.equal(wait.wakers[0]!.times, wait.times, reason);
    }
  },
);

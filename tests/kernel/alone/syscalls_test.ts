/** System calls of a program that says which it makes: as many in each thread, and as long. */
import assert from "node:assert/strict";
import { sampledTest } from "../../harness/kernel.ts";
import { temporary } from "../../harness/temporary.ts";
import { built } from "../../setup/programs.ts";
import { lastOfThree } from "../last_of_three.ts";
import { allFormats, startLlmprof, summaryOf } from "../live_run.ts";
import { differingReplays } from "../replayed.ts";

sampledTest(1, "--syscalls: every call of each thread, and how long it waited", { engine: false, judge: false }, async ({ path }) => {
  // Between its readings of the clock there is the way into the kernel and back, too: some microseconds of three milliseconds.
  const isAll = (waits: readonly Wait[]) => waits.every(({ totalNs, ns }) => totalNs > 0.97 * ns);
  const waits = await lastOfThree(() => countedWaits(path), isAll);
  assert.ok(isAll(waits), waits.map(({ totalNs, ns }) => `${totalNs} ns in futex, ${ns} by the program's own clock`).join());
});

/** Nanoseconds of a thread's waits, and between the clock readings around them. */
interface Wait {
  readonly totalNs: number;
  readonly ns: number;
}

/** What is counted, in every run. */
async function countedWaits(bpftrace: string): Promise<Wait[]> {
  using folder = temporary();
  const target = { argv: [built.syscalls] };
  await using llmprof = startLlmprof("coldstart", { bpftrace, folder, target, formats: allFormats, flags: ["--syscalls"] });
  const ended = await llmprof.finished();
  const { result, events } = summaryOf("coldstart", ended);
  assert.deepEqual([events.lost, events.received], [0, events.emitted]);
  const said = [...ended.stderr.matchAll(/^(\d+) (\d+)$/gm)].map((line) => ({ tid: Number(line[1]), ns: Number(line[2]) }));
  assert.equal(said.length, 3);
  const { threads, names, calls } = result.systemCalls!;
  const sums = (tid: number, name: string) => threads.find((thread) => thread.tid === tid)!.names.find((sums) => sums.name === name);
  const longest = said.filter(({ ns }) => ns > 0).sort((a, b) => b.ns - a.ns);
  const waits = ([[1009, 101], [503, 53]] as const).map(([questions, times], i) => {
    const { tid, ns } = longest[i]!;
    assert.equal(sums(tid, "getpgid")?.calls, questions);
    assert.equal(sums(tid, "futex")?.calls, times);
    const { totalNs } = sums(tid, "futex")!;
    assert.ok(totalNs <= ns, `${totalNs} ns in futex, ${ns} by the program's own clock`);
    return { totalNs, ns };
  });
  const main = said.find(({ ns }) => ns === 0)!.tid;
  assert.equal(sums(main, "getppid")?.calls, 10007);
  assert.equal(names.find(({ name }) => name === "getpgid")!.calls, 1009 + 503);
  assert.equal(names.reduce((sum, { calls }) => sum + calls, 0), calls);
  assert.ok(names.every(({ name }) => /^[a-z_0-9]+$/.test(name)), names.map(({ name }) => name).join());
  assert.deepEqual(await differingReplays(folder, ["pftrace", "json", "jsonl"]), []);
  return waits;
}

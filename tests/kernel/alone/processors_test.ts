/** Threads that want more processors than they get: what `sched` says of that, and that they wait less where its advice is followed. */
import assert from "node:assert/strict";
import { THREADS } from "../../../lib/analysis/engine_flags.ts";
import type { SchedResult } from "../../../lib/analysis/sched_schema.ts";
import { numbersOf } from "../../../lib/machine/numa.ts";
import { mustRun, start } from "../../harness/command.ts";
import { sampledTest } from "../../harness/kernel.ts";
import { llmprof } from "../../harness/llmprof.ts";
import { temporary } from "../../harness/temporary.ts";
import { built } from "../../setup/programs.ts";
import { type Account, accountsIn, resultOf, share, told, verdictOf } from "../bottleneck_run.ts";
import { lastOfThree } from "../last_of_three.ts";
import { summaryOf } from "../live_run.ts";
import { cpuLimit } from "../loop_device.ts";

/** What else wants a processor takes its part of one, now and then. */
async function waitsLess(again: () => Promise<SchedResult["verdict"]>, than: number): Promise<void> {
  const left = await lastOfThree(async () => share(await again(), "processor"), (left) => left < than);
  assert.ok(left < than, `${left} of the time for a processor, which is to be less than ${than}`);
}

sampledTest(1, "sched: a crowd waits for processors, each thread as long as the kernel says, and fewer threads wait less", {}, async ({ path }) => {
  using folder = temporary();
  const cpus = navigator.hardwareConcurrency;
  const off = ({ onNs, queuedNs }: SchedResult["threads"][number], { on, queued }: Account) =>
    Math.max(Math.abs(onNs / on - 1), Math.abs(queuedNs / queued - 1));
  const { result: { verdict: crowd, threads }, said } = await lastOfThree(
    () => told(path, folder, ["crowd", String(4 * cpus)]),
    ({ result, said }) => accountsIn(said).every((account) => off(result.threads.find(({ tid }) => tid === account.tid)!, account) < 0.02),
  );
  const accounts = accountsIn(said);
  assert.equal(accounts.length, 4 * cpus);
  for (const account of accounts) {
    const thread = threads.find(({ tid }) => tid === account.tid)!;
    assert.ok(off(thread, account) < 0.02, `${JSON.stringify(thread)} by llmprof, ${JSON.stringify(account)} by the kernel's account`);
  }
  assert.equal(crowd[0]!.wait, "processor");
  assert.ok(crowd[0]!.share > 0.5, `${crowd[0]!.share}`);
  assert.equal(crowd[0]!.advice, `Fewer threads: ${cpus} (${THREADS}).`);
  await waitsLess(() => verdictOf(path, folder, ["crowd", String(cpus)]), crowd[0]!.share / 2);
  await waitsLess(() => verdictOf(path, folder, ["crowd", "1"]), crowd[0]!.share / 4);
});

sampledTest(
  1,
  "sched: threads of which some may run on one processor alone are told so, and a replay says the same; where all may run is no word of it",
  {},
  async ({ path }) => {
    using folder = temporary();
    const cpus = navigator.hardwareConcurrency;
    const { result, said, recording } = await told(path, folder, ["apart", "3"]);
    const mayRun = ({ threads }: SchedResult, { tid }: Account) => numbersOf(threads.find((thread) => thread.tid === tid)!.affinity!);
    const accounts = accountsIn(said);
    assert.deepEqual(accounts.map(({ last }) => last).toSorted(), [0, 0, 1]);
    for (const account of accounts) assert.deepEqual(mayRun(result, account), [account.last]);
    const replay = await start([...llmprof, "sched", "--summary", "json", "--no-output", "--from", recording]).finished();
    for (const { verdict: [first], threads } of [result, summaryOf("sched", replay).result]) {
      assert.equal(first!.wait, "processor");
      assert.ok(
        first!.evidence.startsWith(`3 threads compute, the machine has ${cpus} processors, and 2 of them may run on processor 0 alone`),
        first!.evidence,
      );
      assert.equal(first!.advice, "Let them use more processors (taskset -p, the cpuset of a container).");
      assert.deepEqual(threads, result.threads);
    }
    const all = await told(path, folder, ["crowd", String(cpus + 1)]);
    const crowd = accountsIn(all.said);
    assert.equal(crowd.length, cpus + 1);
    for (const account of crowd) {
      const allowed = mayRun(all.result, account);
      // Its list may have processors that are not there.
      assert.deepEqual([allowed.filter((cpu) => cpu < cpus).length, account.processors, account.last], [cpus, cpus, cpus - 1]);
    }
    assert.equal(all.result.verdict[0]!.advice, `Fewer threads: ${cpus} (${THREADS}).`);
  },
);

sampledTest(0, "sched: a hog on its processor is named, and without it nothing is waited for", {}, async ({ path }) => {
  using folder = temporary();
  // As the program of an llmprof that runs from a clone is called.
  const deno = folder.file("deno");
  Deno.copyFileSync(built.hog, deno);
  await using hog = start([deno, "1"], { timeoutMilliseconds: 60_000 });
  await hog.saw("hogging");
  const byHog = ({ takers }: SchedResult) => takers.find(({ tid }) => tid === hog.pid)?.ns ?? 0;
  const before = await resultOf(path, folder, ["pinned", "1"]), [first] = before.verdict;
  assert.equal(first!.wait, "processor");
  assert.ok(first!.share > 0.4, `${first!.share}`);
  assert.match(first!.evidence, new RegExp(`deno \\(${hog.pid}\\) took`));
  const [, away, lower] = /^Keep deno away from processor 1 \((taskset .*), or a cpuset\), or give it a lower priority \((renice .*)\)\.$/.exec(
    first!.advice,
  )!;
  const followed = async (advice: string, takeBack: string) => {
    await mustRun(advice.split(" "));
    await waitsLess(async () => {
      const after = await resultOf(path, folder, ["pinned", "1"]);
      assert.ok(byHog(after) < byHog(before) / 4, `${advice}: ${byHog(after)} ns, of ${byHog(before)} ns`);
      return after.verdict;
    }, first!.share);
    await mustRun([...takeBack.split(" "), String(hog.pid)]);
  };
  await followed(away!, "taskset -pc 1");
  await followed(lower!, "renice 0");
  hog.kill("SIGTERM");
  await hog.finished();
  await waitsLess(() => verdictOf(path, folder, ["pinned", "1"]), first!.share / 4);
});

sampledTest(0, "sched: a control group's limit of processors' time is named, with how often it was met, as the group counts it", {
  groups: true,
}, async ({ path }) => {
  using folder = temporary();
  using group = cpuLimit(0.3);
  const { verdict: [first], limits } = await resultOf(path, folder, ["crowd", "1"], [group.tasks]);
  assert.equal(first!.wait, "processor");
  assert.match(`${first!.evidence} ${first!.advice}`, /allows 0\.3 of a processor's time.*Raise that limit/);
  const { throttled, ns } = group.stat();
  assert.deepEqual([limits!.cpus, limits!.throttled, limits!.throttledNs], [0.3, throttled, ns]);
  assert.ok(throttled > 5, `${throttled}`);
  await waitsLess(async () => {
    const { verdict, limits: none } = await resultOf(path, folder, ["crowd", "1"]);
    assert.ok(none === null || none.throttled === 0);
    return verdict;
  }, first!.share / 4);
});

/** Work and waiting apart: a program whose workers wait for each other writes down for how long. */
import assert from "node:assert/strict";
import { start } from "../../harness/command.ts";
import { sampledTest } from "../../harness/kernel.ts";
import { temporary } from "../../harness/temporary.ts";
import { query } from "../../judge/trace_processor.ts";
import { built } from "../../setup/programs.ts";
import { engineCommand } from "../../workloads/engine_run.ts";
import { model } from "../../workloads/model.ts";
import { lastOfThree } from "../last_of_three.ts";
import { outputPath, startLlmprof, summaryOf } from "../live_run.ts";

/** A prime; of each graph six operators with two barriers (team.c). */
const GRAPHS = 23, BARRIERS = 6 * 2;
/** Between a worker's clock and the probe's: its own trap, and whatever the machine does there. */
const OFF_BY = 0.05;

for (const workers of [2, 3]) {
  sampledTest(
    workers,
    `operators --detail wait: each wait of ${workers} workers, as long as they say`,
    { engine: false, judge: true },
    async ({ path }) => {
      const waited = await lastOfThree(() => waitsOf(workers, path), (waited) => waited.every(({ ns, told }) => Math.abs(told / ns - 1) < OFF_BY));
      for (const [worker, { ns, told }] of waited.entries()) {
        assert.ok(Math.abs(told / ns - 1) < OFF_BY, `worker ${worker} waited ${ns} ns and is said to have waited ${told}`);
      }
    },
  );
}

/** Of each worker for how long it waited, by itself and by llmprof; all else is as it is whatever the machine does meanwhile. */
async function waitsOf(workers: number, bpftrace: string): Promise<{ readonly ns: number; readonly told: number }[]> {
  using folder = temporary();
  const log = folder.file("log");
  const target = { argv: [built.team, String(workers), String(GRAPHS), log] };
  await using llmprof = startLlmprof("operators", { bpftrace, folder, flags: ["--detail", "wait"], target });
  const { result, events } = summaryOf("operators", await llmprof.finished());
  assert.deepEqual([events.lost, events.received], [0, events.emitted]);
  const drawn = await query(outputPath(folder, "pftrace"), waits);
  // At each barrier all wait but one, and that one differs. (Which of two that come within a microsecond is the last, nobody can say.)
  assert.equal(drawn.reduce((sum, { calls }) => sum + Number(calls), 0), GRAPHS * BARRIERS * (workers - 1));
  assert.equal(drawn.length, workers);
  assert.deepEqual(drawn.map(({ inside }) => inside), drawn.map(({ calls }) => calls), "each wait lies inside an operator of its row");
  assert.equal(result.detail, "wait");
  for (const { waitNs, busyNs } of result.workers) assert.ok(waitNs! < busyNs);
  // The rows of operators are the same time as those of workers.
  const [waiter, ...others] = result.workers.map(({ waitNs }) => waitNs!);
  const sum = (of: "waitNs" | "othersWaitNs") => result.operators.reduce((sum, row) => sum + row[of]!, 0);
  assert.ok(Math.abs(sum("waitNs") - waiter!) < 1 && Math.abs(sum("othersWaitNs") - others.reduce((a, b) => a + b)) < 1);
  // Were one to do all of a graph, it would work as many times as long as the mean as there are workers.
  const { mean, most } = result.graphs.imbalance!;
  assert.ok(0 < mean && mean <= most && most < workers - 1, `${mean} more than the mean, ${most} at most`);
  const said = Deno.readTextFileSync(log).trimEnd().split("\n").map(Number);
  assert.equal(said.length, workers);
  return said.map((ns, worker) => ({ ns, told: result.workers[worker]!.waitNs! }));
}

/** Of a worker that was late and of one that waited for it: what the kernel says that either was kept from running for. */
const DELAY_OFF_BY = 0.05;
/** So many graphs that what llmprof does at the beginning is little beside them. */
const LONG = 61;

sampledTest(
  1,
  "operators --detail wait: who shares a processor with somebody else is waited for as long as that one ran",
  { gcc: true },
  async ({ path }) => {
    const isAsLong = ({ waited, delay }: Shared) => Math.abs(waited / delay - 1) < DELAY_OFF_BY;
    // llmprof and bpftrace want that processor now and then, as well.
    const isTheirs = ({ ran, kept }: Shared) => ran < kept * 1.01 && ran > kept * 0.9;
    const run = await lastOfThree(() => sharedRun(path), (run) => isAsLong(run) && isTheirs(run));
    assert.ok(isAsLong(run), `waited ${run.waited} ns for one that the kernel says was kept for ${run.delay}`);
    assert.ok(isTheirs(run), `the other ran for ${run.ran} ns, and the worker was kept for ${run.kept}`);
  },
);

type Shared = Readonly<Record<"waited" | "delay" | "ran" | "kept", number>>;

/** What a hypervisor or an interrupt takes of a worker is no time that the kernel kept it from running for. */
async function sharedRun(bpftrace: string): Promise<Shared> {
  using folder = temporary();
  const log = folder.file("log");
  await using hog = start([built.hog, "0"]);
  await hog.saw(/^hogging$/m);
  await using llmprof = startLlmprof("operators", {
    bpftrace,
    folder,
    flags: ["--detail", "wait"],
    target: { argv: [built.team, "2", String(LONG), log, "pinned"] },
  });
  const { result, events } = summaryOf("operators", await llmprof.finished());
  hog.kill("SIGTERM");
  const { stdout } = await hog.succeeded();
  assert.deepEqual([events.lost, events.received], [0, events.emitted]);
  const lines = Deno.readTextFileSync(log).trimEnd().split("\n").map((line) => line.split(" ").map(Number));
  const [[, late], [, other], [began, ended, kept]] = lines as [number[], number[], number[]];
  // Both work for the same CPU time: what one was kept from running, the other waits, less what it was kept itself.
  const waited = result.workers[1]!.waitNs! - result.workers[0]!.waitNs!;
  return { waited, delay: late! - other!, ran: book(stdout, ended!) - book(stdout, began!), kept: kept! };
}

/** CPU time that the hog had used at a moment, by its own book. */
function book(text: string, at: number): number {
  const lines = text.trim().split("\n").slice(1).map((line) => line.split(" ").map(Number) as [number, number]);
  const next = lines.findIndex(([moment]) => moment >= at);
  return lines[next]![1];
}

sampledTest(
  0,
  "operators --detail wait: on two threads of an engine, whoever comes to a barrier is told",
  { engine: true, judge: true },
  async ({ path: bpftrace }) => {
    using folder = temporary();
    const target = { argv: engineCommand({ model: model("tiny"), prompt: 5, tokens: 11, threads: 2 }) };
    await using llmprof = startLlmprof("operators", { bpftrace, folder, flags: ["--detail", "wait"], target });
    const { result, events } = summaryOf("operators", await llmprof.finished());
    assert.deepEqual([events.lost, events.received], [0, events.emitted]);
    const [first, second] = result.workers;
    assert.equal(first!.calls, second!.calls);
    // Behind each operator one of the two is the last to come, and the other waits.
    const [drawn] = await query(outputPath(folder, "pftrace"), "select count(*) as calls from slice where category = 'ggml.wait'");
    assert.ok(Number(drawn!.calls) >= first!.calls, `${drawn!.calls} waits for ${first!.calls} operators`);
    for (const { waitNs, busyNs } of result.workers) assert.ok(waitNs! > 0 && waitNs! < busyNs);
  },
);

const waits = `
select t.name, count(*) as calls, sum(p.category = 'ggml.op' and p.track_id = s.track_id) as inside
from slice s join track t on t.id = s.track_id left join slice p on p.id = s.parent_id
where s.category = 'ggml.wait' group by t.name order by t.name`;

/** Several layers in one run: what each tells is what it tells alone, and shared probes are attached once. */
import assert from "node:assert/strict";
import { start } from "../../harness/command.ts";
import { sampledTest } from "../../harness/kernel.ts";
import { llmprof } from "../../harness/llmprof.ts";
import { temporary } from "../../harness/temporary.ts";
import { built } from "../../setup/programs.ts";
import { parseEngineLog } from "../../workloads/engine_log.ts";
import { engineCommand } from "../../workloads/engine_run.ts";
import { model } from "../../workloads/model.ts";
import { recordResultSchema } from "../../../lib/commands/record_schema.ts";
import { lastOfThree } from "../last_of_three.ts";
import { allFormats, outputPath, startLlmprof, summaryOf } from "../live_run.ts";
import { differingReplays } from "../replayed.ts";
import { errors, query } from "../../judge/trace_processor.ts";

const TOKENS = 23;

sampledTest(
  1,
  "record: operators, disks and threads of one run on one timeline, each probe once",
  { engine: true, judge: true, gcc: true },
  async ({ path }) => {
    using folder = temporary();
    const log = folder.file("log");
    const target = ["taskset", "-c", "1", ...engineCommand({ model: model("small"), tokens: TOKENS, log })];
    const recorded = async () => {
      using folder = temporary();
      const outputs = allFormats.flatMap((format) => ["-o", outputPath(folder, format)]);
      const flags = ["--bpftrace", path, "--layers", "coldstart,operators,io,sched", "--summary", "json", ...outputs];
      // What takes a processor from it, now and then.
      await using hog = start(["nice", "-n", "10", built.hog, "1"]);
      await hog.saw("hogging");
      await using running = start([...llmprof, "record", ...flags, "--", ...target], { cwd: folder.path, timeoutMilliseconds: 120_000 });
      const ended = await running.finished();
      hog.kill("SIGTERM");
      assert.equal(ended.code, 0, ended.stderr);
      const { result, probes, events, overhead } = JSON.parse(ended.stdout);
      const { coldstart, operators, io, sched } = recordResultSchema.parse(result);
      const { decodes } = parseEngineLog(Deno.readTextFileSync(log));
      assert.equal(events.lost, events.skipped);
      assert.equal(operators!.tokens.decodeCalls + operators!.tokens.prefillCalls, decodes);
      assert.ok(coldstart!.timeToFirstTokenNs! > 0);
      assert.ok(io!.files.some(({ file, mappedBytes }) => file.endsWith("small.gguf") && mappedBytes > 100e6));
      // What is told of workers is a part of what is told of threads.
      const { involuntary, queuedNs } = sched!.totals;
      const [times, ns] = (["times", "ns"] as const).map((of) => operators!.workers.reduce((sum, { preempted }) => sum + preempted![of], 0));
      assert.ok(
        times! > 0 && times! <= involuntary && ns! > 0 && ns! <= queuedNs,
        `${times}, ${ns} ns of workers, ${involuntary}, ${queuedNs} of threads`,
      );
      const sites: string[] = probes.map(({ name, site }: { name: string; site: string }) => `${name} ${site}`);
      assert.equal(new Set(sites.filter((site) => site.startsWith("files/"))).size, sites.filter((site) => site.startsWith("files/")).length);
      // A time off a processor lies inside what was interrupted: no row of the trace is drawn beside another for it.
      for (const format of ["pftrace", "json"]) assert.deepEqual(await errors(outputPath(folder, format)), []);
      const [inside] = await query(
        outputPath(folder, "pftrace"),
        `select count(*) as n, sum(s.dur) as ns from slice s join slice p on s.track_id = p.track_id and s.ts >= p.ts and s.ts + s.dur <= p.ts + p.dur where s.category = 'sched.off' and p.category = 'llama.decode' and extract_arg(p.arg_set_id, 'debug.phase') = 'decode'`,
      );
      const { onNs } = sched!.threads[0]!, { decodeNs } = operators!.time, computing = decodeNs - Number(inside!.ns);
      assert.deepEqual(await differingReplays(folder, ["pftrace", "json", "jsonl"]), []);
      return { overhead, stderr: ended.stderr, onNs, decodeNs, computing, interrupted: Number(inside!.n) };
    };
    // Its processor is the hog's by one to nine where both want it; what else runs may want it, too. Or the hog's turns fall between the calls.
    const isUndisturbed = ({ onNs, decodeNs, computing, interrupted }: Awaited<ReturnType<typeof recorded>>) =>
      interrupted > 0 && computing > 0.5 * decodeNs && onNs > 0.95 * computing;
    const run = await lastOfThree(recorded, isUndisturbed), { overhead } = run;
    assert.ok(
      isUndisturbed(run),
      `${run.interrupted} times in a call, ${run.onNs} ns on a processor, ${run.computing} in llama_decode and not off, of ${run.decodeNs}`,
    );
    // What the set costs, without io and sched, is no less than the dearest of its layers, and no more than all of them, some of which share probes.
    assert.deepEqual(overhead.unpriced, ["io", "sched"]);
    assert.match(run.stderr, /^Overhead: predicted [\d.]+ % without io and sched/m);
    const layers: number[] = [];
    for (const layer of ["coldstart", "operators"] as const) {
      await using alone = startLlmprof(layer, { bpftrace: path, folder, target: { argv: target }, formats: [], flags: ["--no-output"] });
      layers.push(summaryOf(layer, await alone.finished()).overhead.predicted!);
    }
    const most = layers.reduce((sum, share) => sum + share);
    assert.ok(overhead.predicted > 0.5 * Math.max(...layers) && overhead.predicted < 2 * most, `${overhead.predicted}, alone ${layers}`);
  },
);

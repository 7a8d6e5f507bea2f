/** A limit on what tracing may cost, on a real engine: kept, stepped down to, or refused. */
import assert from "node:assert/strict";
import { percent } from "../../../lib/events/text.ts";
import { mustRun, run, start } from "../../harness/command.ts";
import { sampledTest } from "../../harness/kernel.ts";
import { llmprof } from "../../harness/llmprof.ts";
import { temporary } from "../../harness/temporary.ts";
import { engineCommand, startEngine } from "../../workloads/engine_run.ts";
import { model } from "../../workloads/model.ts";
import type { OperatorsResult } from "../../../lib/analysis/operators_schema.ts";
import type { Summary } from "../../../lib/analysis/summary.ts";

sampledTest(
  1,
  "--max-overhead: full detail below it, less above it, nothing where even that is too much",
  { engine: true },
  async ({ path: bpftrace }) => {
    using folder = temporary();
    const [waitFile, stopFile] = [folder.file("go"), folder.file("stop")];
    await using engine = startEngine({ model: model("tiny"), prompt: 1, tokens: 200, threads: 1, waitFile, stopFile });
    await engine.saw('"waiting"');
    Deno.writeTextFileSync(waitFile, "");
    const operators = (limit: string) => {
      const flags = [
        "--pid",
        String(engine.pid),
        "--bpftrace",
        bpftrace,
        "--duration",
        "3s",
        "--no-output",
        "--summary",
        "json",
        "--max-overhead",
        limit,
      ];
      return run([...llmprof, "operators", ...flags], { timeoutMilliseconds: 60_000 });
    };

    const full = await operators("100000%");
    assert.equal(full.code, 0, full.stderr);
    const seen: Summary<OperatorsResult> = JSON.parse(full.stdout);
    assert.ok(seen.probes.some(({ name, hits }) => name === "ggml/ops" && hits! > 0), "operators were seen");
    assert.equal(seen.events.lost, 0);
    assert.equal(seen.events.emitted, seen.events.received);
    assert.ok(seen.overhead.predicted! > 0);
    const { predicted, measured } = seen.overhead;
    assert.ok(Math.abs(measured! - predicted!) < 0.5, `predicted ${predicted}, measured ${measured}`);
    const { details = {} } = seen.overhead;
    assert.deepEqual(Object.keys(details), ["op", "sum", "graph", "sample", "token"]);
    const told = /^Predicted: (.*)$/m.exec(full.stderr)![1]!;
    assert.ok(seen.notes.includes(`Predicted: ${told}`), seen.notes.join("\n"));
    assert.deepEqual(told.match(/[\d.]+ %/g), Object.values(details).map((cost) => percent(cost!)));
    assert.match(full.stderr, /^Predicted overhead .* % at [\d,]+ hits\/s\.$/m);
    assert.match(full.stderr, /^Overhead: predicted .* %, measured .* %\.$/m);
    assert.doesNotMatch(full.stderr, /uncalibrated/);

    const refused = await operators("0.0000001%");
    assert.equal(refused.code, 4, refused.stderr);
    assert.match(refused.stderr, /^Tracing would cost more than --max-overhead .* allows\. Predicted: .* for every operator, .* for tokens/m);
    const [, op, graph] = /Predicted: ([\d.]+) % for every operator, [\d.]+ % for sums of every operator, ([\d.]+) % for graphs/.exec(
      refused.stderr,
    )!;
    assert.ok(Number(op) > Number(graph), refused.stderr);
    assert.match(refused.stderr, /^Allow more: --max-overhead [\d.]+%$/m);

    // Between what every operator costs and what graphs do: an engine that has become faster or slower changes both by a factor.
    const limit = Math.sqrt(Number(op) * Number(graph)).toFixed(3);
    const less = await operators(`${limit}%`);
    assert.equal(less.code, 0, less.stderr);
    const stepped: Summary<OperatorsResult> = JSON.parse(less.stdout);
    assert.ok(stepped.overhead.details!.op! > Number(limit) / 100 && stepped.overhead.details!.graph! <= Number(limit) / 100, less.stderr);
    assert.ok(!stepped.probes.some(({ name }) => name === "ggml/ops"));
    assert.ok(stepped.probes.some(({ name, hits }) => name === "ggml/graph" && hits! > 0));
    assert.equal(stepped.events.lost, 0);
    const held = 100 * stepped.overhead.predicted!;
    assert.ok(held > 0 && held <= Number(limit), `${held} % predicted, ${limit} % allowed`);
    assert.match(stepped.notes.join(), /every operator would cost .*, so this run sees graphs and tokens, no operators/);
    assert.match(less.stderr, /so this run sees graphs and tokens, no operators/);
    Deno.writeTextFileSync(stopFile, "");
    await engine.finished();
  },
);

sampledTest(
  2,
  "--max-overhead: what could not be looked at before is said to be unknown, and that it is too much as soon as that is known",
  { engine: true },
  async ({ path: bpftrace }) => {
    using folder = temporary();
    const [waitFile, stopFile] = [folder.file("go"), folder.file("stop")];
    const options = { model: model("tiny"), prompt: 1, tokens: 200, threads: 1, stopFile };
    const operators = (...target: string[]) => {
      const flags = ["--bpftrace", bpftrace, "--no-output", "--summary", "json", "--max-overhead", "0.0001%"];
      return start([...llmprof, "operators", ...flags, ...target], { timeoutMilliseconds: 90_000 });
    };
    const unknown = /--max-overhead 0\.000 % could not be checked before attaching: the target did/;
    const dear = (next: string) => new RegExp(`^Warning: tracing costs more \\(.* predicted\\) than --max-overhead .* allows\\. ${next}`, "m");
    const looked = "See less: --detail graph", launched = "Try it on the running process with --pid";

    await using engine = startEngine({ ...options, waitFile });
    await engine.saw('"waiting"');
    await using idle = operators("--pid", String(engine.pid));
    await idle.saw("Tracing process");
    assert.match(idle.stderr(), unknown);
    Deno.writeTextFileSync(waitFile, "");
    await idle.saw("Warning: tracing costs");
    Deno.writeTextFileSync(stopFile, "");
    await engine.finished();
    const { code, stderr, stdout } = await idle.finished();
    assert.match(stderr, dear(looked));
    assert.match(stderr, new RegExp(`^Tracing cost more .*\\n${looked}`, "m"));
    assert.equal(code, 4);
    const { notes }: Summary<OperatorsResult> = JSON.parse(stdout);
    assert.match(notes.join("\n"), unknown);
    assert.match(notes.join("\n"), /^tracing costs more/m);

    Deno.removeSync(stopFile);
    await using started = operators("--", ...engineCommand(options));
    await started.saw("Warning: tracing costs");
    Deno.writeTextFileSync(stopFile, "");
    const end = await started.finished();
    assert.match(end.stderr, /could not be checked before attaching: the target did not run yet/);
    assert.match(end.stderr, dear(launched));
    assert.equal(end.code, 4);
  },
  true,
);

sampledTest(1, "--calibrate --rate: what a hit costs here, and what a rate of them does", { engine: true }, async ({ path: bpftrace }) => {
  await using engine = startEngine({ model: model("tiny"), prompt: 1, tokens: 1, threads: 1, waitFile: "/nonexistent/go" });
  await engine.saw('"waiting"');
  const flags = ["--pid", String(engine.pid), "--bpftrace", bpftrace, "--dry-run", "--calibrate", "--rate", "25k/s"];
  // As on hardened machines: from the folder of temporary files nothing may be started.
  using folder = temporary();
  const hardened = `mount -t tmpfs -o noexec tmpfs ${folder.path} && exec "$@"`;
  const { stdout } = await mustRun(["unshare", "-m", "sh", "-c", hardened, "sh", ...llmprof, "operators", ...flags], {
    env: { TMPDIR: folder.path },
    timeoutMilliseconds: 60_000,
  });
  const costs =
    /^# A hit with its record costs the traced thread: nop ([\d.]+) µs, emulated ([\d.]+) µs, stepped ([\d.]+) µs, and (?:[\d.]+) µs more for a return(?:, [\d.]+ µs for a record that wakes bpftrace \(before 0\.19\))?\.$/m
      .exec(stdout);
  assert.ok(costs, stdout);
  const [nop, emulated, stepped] = costs.slice(1).map(Number);
  assert.ok(nop! > 0 && emulated! > 0 && stepped! > emulated!, costs[0]);
  const told = /^# Predicted overhead at 25,000 hits\/s of \S*ggml_cpu_extra_compute_forward(\+4)? \((\w+).*\): ([\d.]+) % of one fully used core\.$/m
    .exec(stdout);
  assert.ok(told, stdout);
  const price = told[2] === "stepped" ? stepped! : told[2] === "nop" ? nop! : emulated!;
  assert.ok(Math.abs(Number(told[3]) - 2.5 * price) < 0.2, told[0]);
});

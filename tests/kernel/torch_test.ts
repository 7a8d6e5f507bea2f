/**
 * PyTorch's operators: each call, and which other it was asked for by, as torch.profiler counts them in the process. Another PyTorch than Debian's is
 * tested where LLMPROF_TEST_PYTHON names a Python that has it.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { start } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { top } from "../harness/places.ts";
import { temporary } from "../harness/temporary.ts";
import { debianPython } from "../setup/torch.ts";
import { allFormats, outputPath, startLlmprof, torchSummaryOf } from "./live_run.ts";
import { differingReplays } from "./replayed.ts";
import { slicesOf } from "./trace_figures.ts";

/** What torch_net.py prints at its end. */
interface Profiled {
  /** Who asked, for what, how often. */
  readonly calls: readonly (readonly [string | null, string, number])[];
  /** Of an operator, how many of its calls may have been asked for by the one beside them. */
  readonly touching: Readonly<Record<string, number>>;
  readonly overloads: Readonly<Record<string, readonly string[]>>;
}

class Sums extends Map<string, number> {
  add(name: string, more: number): void {
    this.set(name, (this.get(name) ?? 0) + more);
  }
}

const FORWARDS = 17;
const pythons = [debianPython, Deno.env.get("LLMPROF_TEST_PYTHON") ?? []].flat();

for (const python of pythons) {
  sampledTest(1, `PyTorch: operators and who asks for them are torch.profiler's, ${python}`, { torch: true, judge: true }, async ({ path }) => {
    using folder = temporary();
    const [quiet, go] = [folder.file("quiet"), folder.file("go")];
    const script = join(top, "tests", "workloads", "torch_net.py");
    await using net = start([python, script, "12", quiet, go, String(FORWARDS)], { timeoutMilliseconds: 180_000 });
    await net.saw('"torch"');
    const flags = ["--learn", "1s"];
    await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { pid: net.pid }, formats: allFormats, flags });
    await llmprof.saw("are timed from here on");
    Deno.writeTextFileSync(quiet, "");
    await net.saw('"quiet"');
    await llmprof.saw("Tracing process");
    Deno.writeTextFileSync(go, "");
    const { stdout } = await net.succeeded();
    const { result, events, notes } = torchSummaryOf(await llmprof.finished());
    const profiled: Profiled = JSON.parse(stdout.trim().split("\n").at(-1)!);
    const names = new Map(Object.entries(profiled.overloads).flatMap(([name, overloads]) => overloads.map((overload) => [overload, name])));
    const called = new Sums(), pairs = new Sums(), differing = new Sums();
    for (const { outer, inner: name, calls } of result.nesting) {
      const inner = names.get(name) ?? name;
      called.add(inner, calls);
      pairs.add(`${outer === null ? null : names.get(outer) ?? outer} → ${inner}`, calls);
    }
    const expected = new Sums();
    for (const [outer, inner, calls] of profiled.calls) {
      expected.add(inner, calls);
      const found = pairs.get(`${outer} → ${inner}`) ?? 0;
      differing.add(inner, Math.max(0, calls - found));
    }
    assert.deepEqual([...called].toSorted(), [...expected].toSorted());
    for (const [name, count] of differing) assert.ok(count <= (profiled.touching[name] ?? 0), `${count} calls of ${name} were asked for by others`);
    const all = profiled.calls.reduce((sum, [, , calls]) => sum + calls, 0);
    assert.ok(all > 5000, `${all} calls`);
    assert.deepEqual([events.lost, result.windows.count, result.threads.map(({ calls }) => calls)], [0, 1, [all]]);
    assert.equal(notes.length, 1, "what was learned");
    assert.equal((await slicesOf(outputPath(folder, "pftrace"), "torch.op")).length, all);
    assert.deepEqual(await differingReplays(folder, ["pftrace", "json", "jsonl"]), []);
  });
}

/**
 * PyTorch's operators: each call, and which other it was asked for by, as torch.profiler counts them in the process. Another PyTorch than Debian's is
 * tested where LLMPROF_TEST_PYTHON names a Python that has it.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { Summary } from "../../lib/analysis/summary.ts";
import type { TorchResult } from "../../lib/analysis/torch_schema.ts";
import { type Finished, start } from "../harness/command.ts";
import { sampledTest } from "../harness/kernel.ts";
import { top } from "../harness/places.ts";
import { type Temporary, temporary } from "../harness/temporary.ts";
import { median } from "../independent/durations.ts";
import { debianPython } from "../setup/torch.ts";
import { lastOfThree } from "./last_of_three.ts";
import { allFormats, outputPath, startLlmprof, torchSummaryOf } from "./live_run.ts";
import { assertRefused, placesThousands } from "./refused_torch.ts";
import { differingReplays } from "./replayed.ts";
import { slicesOf } from "./trace_figures.ts";

/** What torch_net.py prints at its end. */
interface Profiled {
  /** Who asked, for what, how often. */
  readonly calls: readonly (readonly [string | null, string, number])[];
  readonly overloads: Readonly<Record<string, readonly string[]>>;
  /** An operator, the sizes of each of its arguments (none for what is no tensor, and for one without dimensions), and how often. */
  readonly shapes: readonly (readonly [string, readonly (readonly unknown[])[], number])[];
  /** Of each time through the net: nanoseconds of the pause before it by the net's own clock, and how often its processor was taken away from it. */
  readonly passes: readonly (readonly [pauseNs: number, taken: number])[];
}

/** A run that both have counted alike. */
interface Compared {
  readonly summary: Summary<TorchResult>;
  readonly profiled: Profiled;
}

class Sums extends Map<string, number> {
  add(name: string, more: number): void {
    this.set(name, (this.get(name) ?? 0) + more);
  }
}

const LAYERS = 12, FORWARDS = 17;
/** Of a pass that is in more than sixteen pieces the end may not be found (lib/analysis/passes.ts): half of that, for pauses are also of other causes. */
const OFTEN = 8;
/** What torch_net.py asks for itself, by the lines of its Block. */
const CALLS_OF_A_BLOCK = 16;
const pythons = [debianPython, Deno.env.get("LLMPROF_TEST_PYTHON") ?? []].flat();
const script = join(top, "tests", "workloads", "torch_net.py");
const needs = { torch: true, judge: true };

for (const python of pythons) {
  sampledTest(1, `PyTorch: a running process, operators and who asks for them are torch.profiler's, ${python}`, needs, async ({ name, path }) => {
    testPasses(await lastOfThree(() => running(python, path, ["--shapes"], !placesThousands(name)), isLetBe));
  });

  sampledTest(0, `PyTorch: …where it is learned first which run, ${python}`, needs, async ({ path }) => {
    testPasses(await lastOfThree(() => running(python, path, ["--learn", "1s"], true), isLetBe));
  });

  sampledTest(1, `PyTorch: a program that llmprof starts, from its first operator on, ${python}`, needs, async ({ name, path }) => {
    const launched = async () => {
      using folder = temporary();
      const argv = [python, script, String(LAYERS), String(FORWARDS)];
      await using llmprof = startLlmprof("operators", {
        bpftrace: path,
        folder,
        target: { argv },
        formats: allFormats,
        timeoutMilliseconds: 180_000,
      });
      const finished = await llmprof.finished();
      return placesThousands(name) ? await compare(folder, finished, finished.stderr) : void assertRefused(finished);
    };
    const run = await lastOfThree(launched, (run) => !run || isLetBe(run));
    if (run) testPasses(run);
  });
}

/** Starts one program after another, and becomes another one at its end. */
const family = `import os, subprocess, sys, torch
torch.tanh(torch.ones(3))
if len(sys.argv) > 1:
    name, times = sys.argv[1:]
    for _ in range(int(times)): getattr(torch, name)(torch.ones(3))
else:
    for name, times in (("sin", "11"), ("cos", "13")): subprocess.run([sys.executable, __file__, name, times], check=True)
    os.execv(sys.executable, [sys.executable, __file__, "exp", "17"])
`;

sampledTest(1, "PyTorch: programs that come one after another have the names of their operators", needs, async ({ name, path }) => {
  using folder = temporary();
  Deno.writeTextFileSync(folder.file("family.py"), family);
  const argv = [debianPython, folder.file("family.py")];
  await using llmprof = startLlmprof("operators", { bpftrace: path, folder, target: { argv }, formats: [], timeoutMilliseconds: 180_000 });
  const finished = await llmprof.finished();
  if (!placesThousands(name)) return assertRefused(finished);
  const { result } = torchSummaryOf(finished);
  const calls = Object.fromEntries(result.operators.map(({ name, calls }) => [name, calls]));
  assert.deepEqual([calls.sin, calls.cos, calls.exp, calls.tanh, calls["unknown operator"]], [11, 13, 17, 4, undefined]);
});

/** A net that has computed before, and computes its last while it is looked at. */
async function running(python: string, bpftrace: string, flags: readonly string[], learns: boolean): Promise<Compared> {
  using folder = temporary();
  const [quiet, go] = [folder.file("quiet"), folder.file("go")];
  await using net = start([python, script, String(LAYERS), String(FORWARDS), quiet, go], { timeoutMilliseconds: 180_000 });
  await net.saw('"torch"');
  const hush = async () => {
    Deno.writeTextFileSync(quiet, "");
    await net.saw('"quiet"');
  };
  if (!learns) await hush();
  await using llmprof = startLlmprof("operators", { bpftrace, folder, target: { pid: net.pid }, formats: allFormats, flags });
  if (learns) {
    await llmprof.saw("are timed from here on");
    await hush();
  }
  await llmprof.saw("Tracing process");
  Deno.writeTextFileSync(go, "");
  const { stdout } = await net.succeeded();
  const compared = await compare(folder, await llmprof.finished(), stdout), { result, notes } = compared.summary;
  assert.equal(result.learnedNs !== null, learns);
  assert.equal(result.shapes !== null, flags.includes("--shapes"));
  assert.equal(notes.length, learns ? 1 : 0, `what was learned: ${notes.join("\n")}`);
  return compared;
}

/** `said`: what the net printed, its last line what its profiler saw. */
async function compare(folder: Temporary, finished: Finished, said: string): Promise<Compared> {
  const summary = torchSummaryOf(finished);
  const { result, events } = summary;
  const profiled: Profiled = JSON.parse(said.split("\n").findLast((line) => line.startsWith('{"calls"'))!);
  const names = new Map(Object.entries(profiled.overloads).flatMap(([name, overloads]) => overloads.map((overload) => [overload, name])));
  const called = new Sums(), pairs = new Sums();
  for (const { outer, inner: name, calls } of result.nesting) {
    const inner = names.get(name) ?? name;
    called.add(inner, calls);
    pairs.add(`${outer === null ? null : names.get(outer) ?? outer} → ${inner}`, calls);
  }
  const expected = new Sums();
  for (const [, inner, calls] of profiled.calls) expected.add(inner, calls);
  assert.deepEqual([...called].toSorted(), [...expected].toSorted());
  assert.deepEqual([...pairs].toSorted(), profiled.calls.map(([outer, inner, calls]) => [`${outer} → ${inner}`, calls]).toSorted());
  const all = profiled.calls.reduce((sum, [, , calls]) => sum + calls, 0);
  assert.ok(all > 5000, `${all} calls`);
  assert.deepEqual([events.lost, result.windows.count, result.threads.map(({ calls }) => calls)], [0, 1, [all]]);
  if (result.shapes) testShapes(result.shapes, profiled, names);
  assert.equal((await slicesOf(outputPath(folder, "pftrace"), "torch.op")).length, all);
  assert.deepEqual(await differingReplays(folder, ["pftrace", "json", "jsonl"]), []);
  return { summary, profiled };
}

/** Shapes of the tensors that come first among an operator's arguments: each as often as the profiler saw them. */
function testShapes(shapes: NonNullable<TorchResult["shapes"]>, profiled: Profiled, names: ReadonlyMap<string, string>): void {
  const found = new Sums(), expected = new Sums(), wanted = new Map<string, number>();
  for (const { name, shapes: given, calls } of shapes) {
    const operator = names.get(name) ?? name;
    assert.ok(!given.includes("?"), `${name} of ${given}`);
    found.add(`${operator}: ${given}`, calls);
    wanted.set(operator, given.split(", ").length);
  }
  for (const [operator, sizes, count] of profiled.shapes) {
    const first = wanted.get(operator);
    if (first !== undefined) expected.add(`${operator}: ${sizes.slice(0, first).map((size) => size.join("×") || "[]").join(", ")}`, count);
  }
  assert.deepEqual([...found].toSorted(), [...expected].toSorted());
  const calls = shapes.filter(({ name }) => name === "linear").map(({ shapes, calls }) => [shapes.split(", ").slice(0, 2).join(", "), calls]);
  assert.deepEqual(calls.toSorted(), [
    ["1×16×256, 64×256", LAYERS * FORWARDS],
    ["1×16×64, 256×64", LAYERS * FORWARDS],
    ["1×16×64, 64×64", 4 * LAYERS * FORWARDS],
  ]);
}

/** How many passes were not interrupted too often: those that are, are told as others. */
function letBe({ passes }: Profiled): number {
  return passes.filter(([, taken]) => taken <= OFTEN).length;
}

/** Whether a pass has to be found, though two may be missed. */
function isLetBe({ profiled }: Compared): boolean {
  return letBe(profiled) > 2;
}

/** Each time through the net is a pass of one kind, with its pause, whoever had the processor in between. */
function testPasses({ summary: { result: { passes: { kinds } } }, profiled }: Compared): void {
  const { passes } = profiled, whole = letBe(profiled);
  assert.equal(passes.length, FORWARDS);
  const net = kinds.find(({ calls }) => calls === LAYERS * CALLS_OF_A_BLOCK);
  assert.ok(net && net.times <= FORWARDS && net.times >= whole - 2, `${whole} were let be, ${JSON.stringify(kinds)}`);
  assert.deepEqual([net.first, net.last], ["layer_norm", "add_Tensor"]);
  const pauseNs = median(passes.map(([pauseNs]) => pauseNs));
  assert.ok(net.beforeP50Ns! >= 20e6 && net.beforeP50Ns! < pauseNs + 20e6, `${net.beforeP50Ns} ns, ${pauseNs} by its own clock`);
}

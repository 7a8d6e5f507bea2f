/** Calls, copies, kernels and memory on a real GPU, as CUPTI counts them in the same run: where there is one. See tests/workloads/cuda_net.py. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { matrixTest } from "../harness/kernel.ts";
import { top } from "../harness/places.ts";
import { temporary } from "../harness/temporary.ts";
import { copiedBy, type Moved, shortKernel, type Told, toldCalls } from "./gpu_run.ts";
import { outputPath, startLlmprof, summaryOf } from "./live_run.ts";

interface Counted {
  readonly pid: number;
  readonly versions: Readonly<Record<string, unknown>>;
  readonly calls: Readonly<Record<string, number>>;
  readonly moved: Readonly<Record<string, Moved>>;
  readonly kernels: Readonly<Record<string, number>>;
  readonly reservedBytes: number;
  readonly segments: { readonly asked: number; readonly freed: number };
}

const FORWARDS = 17, REPLAYS = 7;
/** What cuBLAS asks of a runtime of its own, stripped, is seen where that asks the driver. */
const DRIVERS: Readonly<Record<string, string>> = { cudaLaunchKernel: "cuLaunchKernel", cudaMemsetAsync: "cuMemsetD8Async" };
const DIRECTIONS = { HtoD: "host to device", DtoH: "device to host", DtoD: "on the device" };

const sum = (numbers: Iterable<number>) => [...numbers].reduce((all, number) => all + number, 0);

matrixTest(
  "gpu: a net on a GPU: calls, copies, kernels and memory are those that CUPTI counts, and PyTorch holds",
  { cuda: true },
  async ({ path }) => {
    using folder = temporary();
    const argv = ["python3", join(top, "tests/workloads/cuda_net.py"), String(FORWARDS), String(REPLAYS)];
    await using llmprof = startLlmprof("gpu", {
      bpftrace: path,
      folder,
      target: { argv },
      flags: ["--every-call"],
      formats: ["jsonl"],
      timeoutMilliseconds: 300_000,
    });
    const ended = await llmprof.finished();
    const { events } = summaryOf("gpu", ended);
    const counted: Counted = JSON.parse(ended.stderr.split("\n").find((line) => line.startsWith('{"versions"'))!);
    console.log(JSON.stringify(counted.versions));
    assert.equal(events.lost, 0);

    const trace = outputPath(folder, "jsonl");
    const [runtime, driver] = ["cudart", "cuda"].map((family) => toldCalls(trace, family).filter(({ pid }) => pid === counted.pid));
    const mark = (name: string) => runtime!.find(({ func }) => func === name)!.start;
    const [from, to] = [mark("cudaProfilerStart"), mark("cudaProfilerStop")];
    const between = (calls: readonly Told[]) => calls.filter(({ start }) => start > from && start < to);
    const [asked, done] = [between(runtime!), between(driver!)];
    const times = (name: string) => [...asked, ...done].filter(({ func }) => func === name).length;
    assert.deepEqual(Object.fromEntries(Object.keys(counted.calls).map((name) => [name, times(DRIVERS[name] ?? name)])), counted.calls);

    for (const [letters, direction] of Object.entries(DIRECTIONS)) {
      const moved = Object.entries(counted.moved).find(([name]) => name.startsWith(`Memcpy ${letters}`))![1];
      assert.deepEqual(copiedBy(asked, direction), moved, direction);
    }

    // What ran is what was launched, and with each replay what was recorded.
    const launches = driver!.filter(({ func }) => func === "cuLaunchKernel");
    const ran = new Map<string, number>();
    for (const { start, args } of launches) {
      const runs = args.captured ? REPLAYS : start > from && start < to ? 1 : 0;
      const name = shortKernel(String(args.kernel));
      if (runs > 0) ran.set(name, (ran.get(name) ?? 0) + runs);
    }
    const executed = Map.groupBy(Object.entries(counted.kernels), ([name]) => shortKernel(name));
    assert.deepEqual(new Map([...ran].sort()), new Map([...executed].map(([name, all]) => [name, sum(all.map(([, runs]) => runs))] as const).sort()));

    // PyTorch asks the runtime for device memory, and nobody else in this process does.
    const mallocs = runtime!.filter(({ func }) => func === "cudaMalloc"), frees = done.filter(({ func }) => func === "cuMemFree");
    const bytes = (calls: readonly Told[]) => sum(calls.map(({ args }) => Number(args.bytes)));
    assert.deepEqual({ asked: mallocs.length, freed: frees.length }, counted.segments);
    assert.equal(bytes(mallocs) - bytes(frees), counted.reservedBytes);
  },
);

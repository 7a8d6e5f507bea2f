import assert from "node:assert/strict";
import { assembled } from "../../../tests/harness/assembled.ts";
import { kernelTest } from "../../../tests/harness/kernel.ts";
import { temporary } from "../../../tests/harness/temporary.ts";
import { spawnChild } from "../child.ts";
import { type Ceilings, ceilingsFor, highest, parseCeilings } from "./ceilings.ts";
import { measureCeilings, tasksFor, threadCounts } from "./measure.ts";
import { code } from "./program.ts";

const one: Ceilings = { threads: 1, memoryBytes: 10e9, cacheBytes: 60e9, cacheSize: 32 << 20, flops: 100e9, byteOperations: 200e9 };

kernelTest("ceilings: the embedded program is what its source assembles to", { gcc: true }, async () => {
  using folder = temporary();
  const theirs = await assembled(new URL("./x86_64.s", import.meta.url), folder);
  assert.equal(theirs.toHex(), Uint8Array.fromBase64(code).toHex());
});

Deno.test("ceilings: the widest instructions that the processor has", () => {
  const tasks = (flags: string) => Object.values(tasksFor(new Set(flags.split(" "))));
  assert.deepEqual(tasks("sse sse2"), ["read16", "sse", "sse"]);
  assert.deepEqual(tasks("avx avx2 fma"), ["read32", "fma", "bytes256"]);
  assert.deepEqual(tasks("avx avx2 fma avx512f"), ["read32", "fma512", "bytes256"]);
  assert.deepEqual(tasks("avx avx2 fma avx512f avx512_vnni"), ["read32", "fma512", "bytes512"]);
});

Deno.test("ceilings: by number of threads, of the next that is as many", () => {
  assert.deepEqual([1, 2, 6, 8].map(threadCounts), [[1], [1, 2], [1, 2, 4, 6], [1, 2, 4, 8]]);
  const all = [1, 2, 4].map((threads) => ({ ...one, threads }));
  assert.deepEqual([0, 1, 3, 4, 9].map((threads) => ceilingsFor(threads, all)?.threads), [1, 1, 4, 4, 4]);
  assert.equal(ceilingsFor(1, []), undefined);
});

Deno.test("ceilings: of several measurements the highest figures", () => {
  const busy = { ...one, memoryBytes: 4e9, flops: 120e9 };
  assert.deepEqual(highest([busy, { ...one, threads: 2 }], [one]), [{ ...one, flops: 120e9 }, { ...one, threads: 2 }]);
  assert.deepEqual(highest([one], []), [one]);
});

const never = new Promise<never>(() => {});

Deno.test("ceilings: what was kept is taken when it can be them", () => {
  assert.deepEqual(parseCeilings(JSON.parse(JSON.stringify([one]))), [one]);
  for (const kept of [null, [], {}, [null], [{ ...one, flops: 0 }], [{ ...one, memoryBytes: "1" }], [one, {}], [{ ...one, threads: Infinity }]]) {
    assert.equal(parseCeilings(kept), null, JSON.stringify(kept));
  }
});

Deno.test({
  name: "ceilings: this machine's, in the order in which machines are built",
  ignore: Deno.build.os !== "linux" || Deno.build.arch !== "x86_64",
  async fn() {
    // Two threads at most: this is about figures that make sense, not about all CPUs.
    const cpus = Math.min(2, navigator.hardwareConcurrency);
    const files = { texts: (paths: readonly string[]) => Promise.all(paths.map((path) => Deno.readTextFile(path).catch(() => null))) };
    const machine = { arch: "x86_64", cpus, memoryBytes: Deno.systemMemoryInfo().total };
    const all = await measureCeilings({ files: files as never, spawn: spawnChild, machine }, never);
    assert.deepEqual(all?.map(({ threads }) => threads), threadCounts(cpus));
    assert.deepEqual(parseCeilings(all), all);
    assert.equal(await measureCeilings({ files: files as never, spawn: spawnChild, machine }, Promise.resolve()), null, "it was stopped");
    // A cache is no slower than memory, and no processor is a thousand times as fast as the slowest that runs this.
    for (const { memoryBytes, cacheBytes, flops, byteOperations } of all!) {
      assert.ok(cacheBytes > memoryBytes / 2, `${cacheBytes} bytes from the cache, ${memoryBytes} from memory`);
      assert.ok(flops > 1e9 && byteOperations > 1e9 && flops < 1e15, `${flops} operations, ${byteOperations} on bytes`);
    }
  },
});

Deno.test("ceilings: another processor has none", async () => {
  const machine = { arch: "aarch64", cpus: 2, memoryBytes: 1e9 };
  assert.equal(await measureCeilings({ files: null as never, spawn: null as never, machine }, never), null);
});

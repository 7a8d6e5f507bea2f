import assert from "node:assert/strict";
import { assembled } from "../../../tests/harness/assembled.ts";
import { kernelTest } from "../../../tests/harness/kernel.ts";
import { temporary } from "../../../tests/harness/temporary.ts";
import { type Child, spawnChild } from "../child.ts";
import { type Ceilings, ceilingsFor, highest, parseCeilings } from "./ceilings.ts";
import { measureCeilings, tasksFor, threadCounts } from "./measure.ts";
import { ceilingsProgram, code, order, tasks } from "./program.ts";

const one: Ceilings = {
  threads: 1,
  memoryBytes: 10e9,
  cacheBytes: 60e9,
  cacheSize: 32 << 20,
  cachesSize: 32 << 20,
  flops: 100e9,
  byteOperations: 200e9,
  bf16Flops: 100e9,
};

kernelTest("ceilings: the embedded program is what its source assembles to", { gcc: true }, async () => {
  using folder = temporary();
  const theirs = await assembled(new URL("./x86_64.s", import.meta.url), folder);
  assert.equal(theirs.toHex(), Uint8Array.fromBase64(code).toHex());
});

Deno.test("ceilings: the widest instructions that the processor has", () => {
  const tasks = (flags: string) => Object.values(tasksFor(new Set(flags.split(" "))));
  assert.deepEqual(tasks("sse sse2"), ["read16", "sse", "sse", "sse"]);
  assert.deepEqual(tasks("avx avx2 fma"), ["read32", "fma", "bytes256", "fma"]);
  assert.deepEqual(tasks("avx avx2 fma avx512f"), ["read32", "fma512", "bytes256", "fma512"]);
  assert.deepEqual(tasks("avx avx2 fma avx512f avx512_vnni"), ["read32", "fma512", "bytes512", "fma512"]);
  assert.deepEqual(tasks("avx avx2 fma avx_vnni"), ["read32", "fma", "vnni256", "fma"]);
  assert.deepEqual(tasks("avx avx2 fma avx512f avx512_vnni avx_vnni"), ["read32", "fma512", "bytes512", "fma512"]);
  assert.deepEqual(tasks("avx avx2 fma avx512f avx512_bf16"), ["read32", "fma512", "bytes256", "bf16"]);
});

Deno.test("ceilings: by number of threads, between two that were measured in between", () => {
  assert.deepEqual([1, 2, 6, 8].map(threadCounts), [[1], [1, 2], [1, 2, 4, 6], [1, 2, 4, 8]]);
  const eight = { ...one, threads: 8, memoryBytes: 40e9, cachesSize: 64 << 20, flops: 800e9 };
  const sixteen = { ...eight, threads: 16, memoryBytes: 48e9, cacheBytes: 100e9, cachesSize: 128 << 20, flops: 880e9, byteOperations: 280e9 };
  const all = [eight, sixteen];
  assert.deepEqual([0, 1, 8, 16, 17].map((threads) => ceilingsFor(threads, all)), [eight, eight, eight, sixteen, sixteen]);
  const nine = { ...sixteen, threads: 9, memoryBytes: 41e9, cacheBytes: 65e9, flops: 810e9, byteOperations: 210e9 };
  assert.deepEqual(ceilingsFor(9, all), nine);
  for (const some of [[{ ...eight, cacheBytes: null }, sixteen], [eight, { ...sixteen, cacheBytes: null }]]) {
    assert.deepEqual(ceilingsFor(9, some), { ...nine, cacheBytes: null });
  }
  assert.equal(ceilingsFor(1, []), undefined);
});

Deno.test("ceilings: of several measurements the highest figures", () => {
  const busy = { ...one, memoryBytes: 4e9, flops: 120e9 };
  assert.deepEqual(highest([busy, { ...one, threads: 2 }], [one]), [{ ...one, flops: 120e9 }, { ...one, threads: 2 }]);
  assert.deepEqual(highest([one], []), [one]);
  const none = { ...one, cacheBytes: null };
  assert.deepEqual([highest([none], [one]), highest([one], [none])], [[none], [one]]);
});

const never = new Promise<never>(() => {});

Deno.test("ceilings: what was kept is taken when it can be them", () => {
  for (const all of [[one], [{ ...one, cacheBytes: null }]]) assert.deepEqual(parseCeilings(JSON.parse(JSON.stringify(all))), all);
  for (const kept of [null, [], {}, [null], [{ ...one, flops: 0 }], [{ ...one, memoryBytes: "1" }], [one, {}], [{ ...one, threads: Infinity }]]) {
    assert.equal(parseCeilings(kept), null, JSON.stringify(kept));
  }
  const { cachesSize: _one, bf16Flops: _other, ...earlier } = one;
  assert.deepEqual(parseCeilings([earlier]), [one], "of bf16 and other caches nothing was known");
});

Deno.test({
  name: "ceilings: the program knows every task, and no other",
  ignore: Deno.build.os !== "linux" || Deno.build.arch !== "x86_64",
  async fn() {
    using folder = temporary();
    const program = folder.file("ceilings");
    Deno.writeFileSync(program, ceilingsProgram(), { mode: 0o700 });
    const refused = async (ordered: Uint8Array<ArrayBuffer>) => {
      const child = new Deno.Command(program, { stdin: "piped", stdout: "null", stderr: "null" }).spawn();
      const [status] = await Promise.all([child.status, new Blob([ordered, "x"]).stream().pipeTo(child.stdin).catch(() => {})]);
      // One that this processor cannot do ends by a signal.
      return status.code === 1;
    };
    for (const task of tasks) assert.ok(!await refused(order(task, 4096, 1)), task);
    assert.ok(await refused(new Uint8Array(new BigUint64Array([BigInt(tasks.length), 4096n, 1n]).buffer)));
  },
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
    for (const { memoryBytes, cacheBytes, flops, byteOperations, bf16Flops } of all!) {
      assert.ok(cacheBytes === null || cacheBytes > memoryBytes / 2, `${cacheBytes} bytes from the cache, ${memoryBytes} from memory`);
      const rates = [flops, byteOperations, bf16Flops];
      assert.ok(rates.every((rate) => rate > 1e9 && rate < 1e15), `${rates.join(", ")} operations, on numbers, bytes and bf16`);
    }
  },
});

Deno.test("ceilings: another processor has none", async () => {
  const machine = { arch: "aarch64", cpus: 2, memoryBytes: 1e9 };
  assert.equal(await measureCeilings({ files: null as never, spawn: null as never, machine }, never), null);
});

/**
 * Of a machine of which eight CPUs each share an L3 of 32 MiB, and each has an L2 of so many MiB: by number of threads, how many MiB these read together from
 * memory, and from caches where that is measured.
 */
async function readOn(cpus: number, second: number): Promise<number[][]> {
  const text = (path: string) => {
    const [, cpu, level, what] = /cpu(\d+)\/cache\/index([23])\/(\w+)$/.exec(path) ?? [];
    if (what === "size") return level === "3" ? "32768K\n" : `${second}M\n`;
    return what === "shared_cpu_list" ? String(level === "3" ? Math.floor(Number(cpu) / 8) : cpu) : null;
  };
  const orders: (readonly [task: bigint, bytes: bigint])[] = [];
  const spawn = (): Child => {
    // Two answers wait for who reads them.
    const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array>(
      {
        transform(said, answers) {
          const [task, bytes] = said.length > 1 ? new BigUint64Array(said.buffer) : [];
          if (task === undefined) return answers.enqueue(new Uint8Array(new BigUint64Array([0n, 1000n]).buffer));
          orders.push([task, bytes!]);
          answers.enqueue(new Uint8Array(1));
        },
      },
      undefined,
      { highWaterMark: 2 },
    );
    return { pid: 1, stdin: writable, stdout: readable, stderr: null, status: never, kill: () => true };
  };
  const files = { texts: (paths: readonly string[]) => Promise.resolve(paths.map(text)) };
  const machine = { arch: "x86_64", cpus, memoryBytes: 2 ** 40 };
  const all = await measureCeilings({ files: files as never, spawn, machine }, never);
  return all!.map(({ threads, cacheBytes, cachesSize }) => {
    assert.equal(cachesSize, Math.min(threads, cpus / 8) * 32 * 2 ** 20);
    // From memory, from caches, numbers, bytes: three times each.
    const measured = orders.splice(0, 3 * threads * (cacheBytes === null ? 3 : 4));
    const read = measured.filter(([task]) => task === 0n).map(([, bytes]) => Number(bytes) / 2 ** 20);
    return [...new Set(read)].map((mib) => mib * threads);
  });
}

Deno.test("ceilings: what is read from memory is in none of a machine's caches, and what is read from the last-level ones in none before these", async () => {
  // One thread, two, four … reach as many of twelve L3s; 96 threads of 2 MiB each fill half of them.
  const reached = [[256, 8], [512, 16], [1024, 32], [2048, 64], [3072, 96], [3072, 96], [3072, 128], [3072, 192]];
  assert.deepEqual(await readOn(96, 1), reached);
  // Eight L2s of 2 MiB hold as much as half of their L3.
  assert.deepEqual(await readOn(8, 2), [[256, 8], [256, 8], [256, 16], [256]]);
});

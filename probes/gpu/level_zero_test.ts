import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { life } from "../process/life.ts";
import { calls } from "./calls.ts";
import { files } from "./files.ts";
import { signatureOf } from "./signatures.ts";

const FUNCTIONS = [
  "zeMemAllocDevice",
  "zeMemAllocHost",
  "zeMemAllocShared",
  "zePhysicalMemCreate",
  "zePhysicalMemDestroy",
  "zeMemFree",
  "zeCommandListAppendMemoryCopy",
  "zeCommandListAppendLaunchKernel",
  "zeCommandListAppendLaunchKernelWithArguments",
  "zeCommandQueueExecuteCommandLists",
  "zeCommandQueueSynchronize",
  "zeDeviceSynchronize",
  "zeCommandListCreate",
  "zeCommandListCreateImmediate",
  "zeCommandListHostSynchronize",
];
const NOT_READY = 1, OUT_OF_DEVICE_MEMORY = 0x70000003;

type Made = readonly [name: string, began: number, words: readonly number[], returned?: number];

/** What is told of calls at these times, by a process that was seen to begin. */
function told(...made: readonly Made[]): string[] {
  const decoding = new Decoding(files, life, calls.levelzero);
  decoding.event(0, "process/life.task", { id: 100, isThread: 0 }, "99");
  const functions = FUNCTIONS.map((name, i) => ({ at: 4096 * (i + 1), bytes: 64, name }));
  decoding.fact(0, { fact: "code", pid: 100, of: "levelzero", ranges: [{ at: 4096, bytes: 1 << 20, file: "libze_loader.so.1" }], functions });
  for (const [name, began, words, returned = 0] of made) {
    const { slots } = signatureOf("levelzero", name)!.layout;
    const fields = Object.fromEntries(words.map((word, i) => [`word${slots[i]}`, word]));
    decoding.event(began + 1, "levelzero/calls.call", { function: 4096 * (FUNCTIONS.indexOf(name) + 1), began, returned, ...fields });
  }
  return decoding.told();
}

Deno.test("level zero: memory is on the GPU that its handle says, in the order in which these are used; a copy goes where its addresses lie", () => {
  const lines = told(
    ["zeMemAllocDevice", 10, [0xa000, 64, 0xd2]],
    ["zeMemAllocDevice", 20, [0xb000, 64, 0xd1]],
    ["zeMemAllocShared", 30, [0xc000, 64, 0xd2]],
    ["zeMemAllocHost", 40, [0xe000, 64]],
    ["zeCommandListAppendMemoryCopy", 50, [0xb000, 0xa000, 8, 0x11]],
    ["zeCommandListAppendMemoryCopy", 52, [0xc000, 0xa000, 8, 0x11]],
    ["zeCommandListAppendMemoryCopy", 54, [0xa000, 0xe000, 8, 0x11]],
    ["zeCommandListAppendMemoryCopy", 56, [0x1000, 0xb000, 8, 0x11]],
    ["zeMemFree", 60, [0xb000]],
    ["zeMemAllocDevice", 70, [0, 1e15, 0xd1], OUT_OF_DEVICE_MEMORY],
  );
  const devices = lines.flatMap((line) => /"zeMemAlloc.* (device=\S+)/.exec(line)?.[1] ?? []);
  assert.deepEqual(devices, ["device=0", "device=1", "device=0", "device=-1", "device=1"]);
  const directions = lines.flatMap((line) => / direction=(.*) returned=0$/.exec(line)?.[1] ?? []);
  assert.deepEqual(directions, ["between devices", "on the device", "host to device", "device to host"]);
  assert.ok(lines.includes("100 <memory of GPU 1> = 0 at 61"), lines.join("\n"));
  assert.ok(lines.includes('100/100 gpu.error "zeMemAllocDevice: out of device memory (0x70000003)" 71 function=zeMemAllocDevice result=1879048195'));
});

Deno.test("level zero: physical memory is a GPU's, or the host's where a flag says so", () => {
  const OF_HOST = 2;
  const lines = told(
    ["zePhysicalMemCreate", 10, [0xa, 4096, 0, 0xd1]],
    ["zePhysicalMemCreate", 20, [0xb, 8192, OF_HOST, 0xd1]],
    ["zePhysicalMemDestroy", 30, [0xa]],
  );
  assert.deepEqual(lines.filter((line) => line.includes("> = ")), [
    "100 <memory of GPU 0, physical> = 4096 at 11",
    "100 <pinned memory of the host> = 8192 at 21",
    "100 <memory of GPU 0, physical> = 0 at 31",
  ]);
});

Deno.test("level zero: a launch has its groups, of which a process says how large they are before, or with it", () => {
  const Y = 2 ** 31,
    lines = told(
      ["zeCommandListAppendLaunchKernel", 10, [0xf, 70000 + 3 * Y, 80000, 0x11]],
      ["zeCommandListAppendLaunchKernelWithArguments", 20, [0xf, 5 + 6 * Y, 7 + 256 * 2 ** 16 + 4 * 2 ** 27 + 2 * 2 ** 38, 0x11]],
    );
  assert.match(lines[0]!, / grid=70000×3×80000 kernel=/);
  assert.match(lines[1]!, / grid=5×6×7 block=256×4×2 kernel=/);
});

Deno.test("level zero: a queue is waited for when a wait says that it is done, and none by a wait for a GPU, of which nobody knows which it is", () => {
  const submit = (began: number) => ["zeCommandQueueExecuteCommandLists", began, [0x11, 1]] as const;
  const wait = (began: number, returned = 0) => ["zeCommandQueueSynchronize", began, [0x11], returned] as const;
  const gaps = (...made: readonly Made[]) => told(...made).flatMap((line) => / gpu\.gap .* (\d+–\d+) /.exec(line)?.[1] ?? []);
  assert.deepEqual(gaps(submit(10), wait(20), submit(40)), ["21–40"]);
  assert.deepEqual(gaps(submit(10), wait(20, NOT_READY), submit(40)), []);
  assert.deepEqual(gaps(submit(10), wait(20, NOT_READY), wait(30), submit(40)), ["31–40"]);
  assert.deepEqual(gaps(submit(10), ["zeDeviceSynchronize", 20, []], submit(40)), []);
  // What a list is given is done when it is executed, or at once where it says so.
  const launch = (began: number) => ["zeCommandListAppendLaunchKernel", began, [0xf, 1, 1, 0x22]] as const;
  assert.deepEqual(gaps(["zeCommandListCreate", 1, [0x22]], launch(5), submit(10), wait(20), launch(30), submit(40)), ["21–40"]);
  const waited = ["zeCommandListHostSynchronize", 20, [0x22]] as const;
  assert.deepEqual(gaps(["zeCommandListCreateImmediate", 1, [0x22]], launch(5), waited, launch(30)), ["21–30"]);
  assert.deepEqual(gaps(launch(5), submit(10), wait(20), submit(40)), [], "it may be one that does so");
});

import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { life } from "../process/life.ts";
import { calls } from "./calls.ts";
import { files } from "./files.ts";
import { signatureOf } from "./signatures.ts";

const FUNCTIONS = [
  "hipMalloc",
  "hipSetDevice",
  "hipMemcpy2D",
  "hipMemcpyAsync",
  "hipMemcpyWithStream",
  "hipDevicePrimaryCtxReset",
  "hipMemcpyParam2DAsync",
  "hipDrvMemcpy3D",
  "hipModuleGetFunction",
  "hipDrvLaunchKernelEx",
];

/** HIP's calls of a process that was seen to begin, each with its words in their order. */
function hipCalls() {
  const decoding = new Decoding(files, life, calls.hip);
  decoding.event(0, "process/life.task", { id: 100, isThread: 0 }, "99");
  const functions = FUNCTIONS.map((name, i) => ({ at: 4096 * (i + 1), bytes: 64, name }));
  decoding.fact(0, { fact: "code", pid: 100, of: "hip", ranges: [{ at: 4096, bytes: 1 << 20, file: "libamdhip64.so.6" }], functions });
  let at = 10;
  /** Returns what is told of it in a trace. */
  const call = (name: string, words: readonly number[], also: Readonly<Record<string, string>> = {}) => {
    const where = { function: 4096 * (FUNCTIONS.indexOf(name) + 1), began: at++, ...also };
    const { slots } = signatureOf("hip", name)!.layout;
    if (also.name) decoding.event(at++, "hip/calls.named", { ...where, given: words[0]! });
    else decoding.event(at++, "hip/calls.call", { ...where, ...Object.fromEntries(words.map((word, i) => [`word${slots[i]}`, word])) });
    return decoding.told();
  };
  return { decoding, call };
}

Deno.test("hip: copies that say what kinds of memory they are between, a launch by a configuration, and a GPU that is reset", () => {
  const { call } = hipCalls();
  const HOST = 1, DEVICE = 2, UNIFIED = 11;
  const directionOf = (name: string, types: number, ...more: readonly number[]) =>
    / direction=(.*) returned=0/.exec(call(name, [types, 64, ...more]).join())?.[1];
  assert.equal(directionOf("hipMemcpyParam2DAsync", HOST * 16 + DEVICE, 7), "host to device");
  assert.equal(directionOf("hipDrvMemcpy3D", DEVICE * 16 + HOST), "device to host");
  assert.equal(directionOf("hipDrvMemcpy3D", UNIFIED * 16 + DEVICE), "by the addresses");
  call("hipModuleGetFunction", [0xf00], { name: "_Z4gemmILi4EEvv" });
  const grid = [70000 + 3 * 2 ** 31, 2 + 128 * 2 ** 16 + 2 * 2 ** 27 + 2 ** 38];
  assert.match(call("hipDrvLaunchKernelEx", [0xf00, ...grid, 7]).join(), /grid=70000×3×2 block=128×2×1 kernel=gemm<4>/);
  call("hipMalloc", [0xa000, 4096]);
  assert.match(call("hipDevicePrimaryCtxReset", [0]).join(), /memory of GPU 0> = 0 /);
});

Deno.test("hip: a copy between GPUs is told by its addresses, though it calls itself one on the device; in older recordings these are not", () => {
  const { call } = hipCalls();
  const ON_DEVICE = 3, WITHOUT_COMPUTE_UNITS = 1024, ABOVE = 2 ** 48;
  const directionOf = (name: string, words: readonly number[]) => / direction=(.*) returned=0/.exec(call(name, words).join())?.[1];
  call("hipMalloc", [0x7000_0000_0000, 4096]);
  call("hipSetDevice", [1]);
  for (const address of [0x7100_0000_0000, 0x7100_0000_1000]) call("hipMalloc", [address, 4096]);
  const copied = (from: number, name = "hipMemcpyAsync") => directionOf(name, [0x7100_0000_0000, 64, from, 7]);
  assert.equal(copied(0x7000_0000_0000 + ON_DEVICE * ABOVE), "between devices");
  assert.equal(copied(0x7000_0000_0000 + ON_DEVICE * ABOVE, "hipMemcpyWithStream"), "between devices");
  assert.equal(copied(0x7100_0000_1000 + ON_DEVICE * ABOVE), "on the device");
  assert.equal(copied(0x7100_0000_1000 + 4 * ABOVE), "on the device", "by the addresses");
  assert.equal(copied(0x5000 + 1 * ABOVE), "host to device");
  assert.equal(copied(0x5000), "on the host");
  assert.equal(copied(ON_DEVICE), "on the device", "a recording of before");
  assert.equal(directionOf("hipMemcpy2D", [64, WITHOUT_COMPUTE_UNITS]), "on the device");
});

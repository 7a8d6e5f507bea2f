import assert from "node:assert/strict";
import { firstFrames, fromWithout } from "./frames.ts";

Deno.test("a stack of GPU memory begins with the call by which the program asked for it", () => {
  const inside = ["cuMemAlloc_v2 (libcuda.so.580.159.04)", "libcudart.so.13+0x41b5e", "cudaMalloc (libcudart.so.13)"];
  const outside = ["c10::cuda::malloc (libc10_cuda.so)", "at::detail::empty_cuda (libtorch_cuda.so)", "main (app)"];
  assert.equal(firstFrames(fromWithout([...inside, ...outside])), [inside.at(-1), ...outside].join(" ← "));
  assert.deepEqual(fromWithout(outside), outside);
  assert.deepEqual(fromWithout(inside), inside);
});

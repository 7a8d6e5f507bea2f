import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { kernels } from "./kernels.ts";

/** A kernel that ran for so long and ended at this time of the GPU's clock. */
function told(decoding: Decoding, at: number, ran: number, ended: number, more: Readonly<Record<string, number | string>> = {}): string[] {
  decoding.event(at, "parcagpu/kernels.kernel", { ran, ended, device: 0, stream: 13, name: "rms_norm_f32", ...more });
  return decoding.told();
}

Deno.test("parcagpu: a kernel by the name that its source has, as long as it ran, on its stream", () => {
  const decoding = new Decoding(kernels);
  assert.deepEqual(told(decoding, 1000, 300, 5000, { name: "_Z9mul_mat_qILi2EEvPKv" }), [
    '100 <GPU 0, stream 13> gpu.kernel "mul_mat_q<2>" 700–1000 device=0 stream=13',
  ]);
  assert.deepEqual(told(decoding, 1100, 50, 70, { device: 1, graph: 7 }), [
    '100 <GPU 1, stream 13> gpu.kernel "rms_norm_f32" 1050–1100 device=1 stream=13 graph=7',
  ]);
});

Deno.test("parcagpu: a name that is longer than a record has room for, which is told in pieces", () => {
  const decoding = new Decoding(kernels), pieces = ["_ZN7cutlass13device_kernelILi1", "ELi2", "ELi3EEEvv"];
  const tell = (who: string, [first, ...more]: readonly string[]) => {
    more.forEach((piece, i) => decoding.event(900, "parcagpu/kernels.more", { name: i + 1 < more.length ? `${piece}…` : piece }, who));
    decoding.event(1000, "parcagpu/kernels.kernel", { ran: 300, ended: 5000, name: `${first}…` }, who);
    return decoding.told().map((line) => line.split('"')[1]);
  };
  assert.deepEqual(tell("100/101", pieces), ["cutlass::device_kernel<1, 2, 3>"]);
  assert.deepEqual(tell("100/101", pieces.slice(0, 1)), ["cutlass::device_kernel<Li1…>"], "cut off");
  assert.deepEqual(tell("100/101", ["mul_mat_q", ""]), ["mul_mat_q"], "as long as a record has room for");
  decoding.event(1100, "parcagpu/kernels.more", { name: "ELi7EEEvv" }, "100/101");
  assert.deepEqual(tell("100/101", pieces), ["cutlass::device_kernel<1, 2, 3>"], "behind one that was lost");
  decoding.event(1200, "parcagpu/kernels.more", { name: "ELi7EEEvv" });
  assert.match(told(decoding, 1300, 300, 5000)[0]!, /"rms_norm_f32"/);
});

Deno.test("parcagpu: the kernel that was told soonest says what the GPU's clock is; none begins before the one in front of it ended", () => {
  const decoding = new Decoding(kernels);
  const ends = (at: number, ran: number, ended: number) => told(decoding, at, ran, ended)[0]!.match(/\d+–\d+/)![0];
  assert.equal(ends(1000, 300, 5000), "700–1000");
  assert.equal(ends(2100, 500, 6000), "1500–2000", "told a tenth of a microsecond late");
  assert.equal(ends(3000, 400, 8000), "2600–3000", "told sooner than those before");
  assert.equal(ends(3100, 700, 8050), "3000–3700");
});

import assert from "node:assert/strict";
import { kernelName } from "./kernel_name.ts";

const names = {
  "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIhEESt5arrayIPcLm1EEEEviT0_T1_":
    "at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<unsigned char>, std::array<char*, (unsigned long)1> >",
  "_Z11scal_kernelIffLi1ELb1ELi6ELi5ELi5ELi3EEv21cublasTransposeParamsIT0_EPKT_PS3_PKS3_": "scal_kernel<float, float, 1, true, 6, 5, 5, 3>",
  "_ZN12_GLOBAL__N_15scaleEPfi": "(anonymous namespace)::scale",
  // Cut off, as a name longer than what is read of it.
  "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFu": "at::native::vectorized_elementwise_kernel<Li4ENS0_11FillFu>",
  "_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalIN4cute5tupleIJNS…":
    "cutlass::device_kernel<NS_4gemm6kernel13GemmUniversalIN4cute5tupleIJNS…>",
  "mul_mat_q": "mul_mat_q",
  "cuda": "cuda",
  "": "",
};

Deno.test("a kernel is called what its source calls it", () => {
  for (const [symbol, name] of Object.entries(names)) assert.equal(kernelName(symbol), name);
});

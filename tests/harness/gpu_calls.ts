import { calls } from "../../probes/gpu/calls.ts";
import { files } from "../../probes/gpu/files.ts";
import { signatureOf } from "../../probes/gpu/signatures.ts";
import { life } from "../../probes/process/life.ts";
import { Decoding } from "./decoding.ts";

/** Where each function lies in a process that has mapped the driver. */
export const FUNCTIONS = [
  "cuMemAlloc_v2",
  "cuMemFree_v2",
  "cuMemcpy",
  "cuModuleGetFunction",
  "cuLaunchKernel",
  "cuStreamBeginCapture_v2",
  "cuStreamEndCapture",
  "cuGraphInstantiateWithFlags",
  "cuGraphExecUpdate",
  "cuGraphDestroy",
  "cuGraphCreate",
  "cuGraphClone",
  "cuMemCreate",
  "ncclAllReduce",
  "cuGraphLaunch",
  "cuMemcpyDtoDAsync",
  "cuEventRecord",
  "cuStreamWaitEvent",
  "cuCtxCreate_v2",
  "cuMemAddressReserve",
  "cuMemAddressFree",
  "cudaLaunchKernel",
  "cuLibraryGetGlobal",
  "cuCtxDestroy_v2",
  "cuStreamSynchronize",
  "cuKernelGetFunction",
  "cudaDeviceSynchronize",
  "cuMemcpyPeerAsync",
  "cudaMemcpyAsync",
  "cudaGraphLaunch",
  "__cudaLaunchKernel",
  "cuMemsetD32Async",
  "cudaMemsetAsync",
  "cuLaunchKernel_ptsz",
  "cuMemHostAlloc",
  "cuMemFreeHost",
  "cuMemHostRegister_v2",
  "cuMemHostUnregister",
  "ncclBroadcast",
  "ncclBcast",
  "cuMemAllocAsync",
  "cuMemFreeAsync",
  "cudaMallocAsync",
  "cudaGetLastError",
  "cudaPeekAtLastError",
  "cudaGetErrorName",
  "cuMemMap",
  "cudaMallocArray",
  "cudaFreeArray",
  "cudaMemset3D",
  "cuKernelGetName",
];

/** Calls of a process, one after another, and what is told of them. */
export function gpuCalls(pid = 100) {
  const decoding = new Decoding(files, life, calls.cuda, calls.cudart, calls.nccl);
  const functions = FUNCTIONS.map((name, i) => ({ at: 4096 * (i + 1), bytes: 64, name }));
  decoding.fact(0, { fact: "code", pid, of: "cuda", ranges: [{ at: 4096, bytes: 1 << 20, file: "libcuda.so.1" }], functions });
  const call = (name: string, began: number, ended: number, words: readonly number[], returned = 0, who = "100") => {
    const family = /^(__)?cuda/.test(name) ? "cudart" : name.startsWith("nccl") ? "nccl" : "cuda";
    const { slots } = signatureOf(family, name)!.layout;
    const fields = Object.fromEntries(words.map((word, i) => [`word${slots[i]}`, word]));
    decoding.event(ended, `${family}/calls.call`, { function: 4096 * (FUNCTIONS.indexOf(name) + 1) + 4, began, returned, ...fields }, who);
  };
  return { decoding, call };
}

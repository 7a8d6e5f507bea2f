/*
 * A stand-in for CUDA's runtime: see log.h. What it allocates and frees on a GPU, captures, launches by a configuration or as a graph, and waits for without
 * end, it asks the driver for, as the real one does.
 */
#define FIRST_ADDRESS 0x710000000000
#include "log.h"

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes);
CUresult cuMemFree_v2(CUdeviceptr address);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream);
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream);
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra);
CUresult cuStreamBeginCapture_v2(CUstream stream, int mode);
CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags);
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream);

KEEPS_BOOK("cudart")

static const char *const directions[] = {"on the host", "host to device", "device to host", "on the device"};

EXPORTED cudaError_t cudaGetDeviceCount(int *count) {
  *count = 2;
  NOTE("cudaGetDeviceCount", 0, "");
  return 0;
}
EXPORTED cudaError_t cudaSetDevice(int device) {
  NOTE("cudaSetDevice", device < 2 ? 0 : 101, ",\"device\":%d", device);
  return device < 2 ? 0 : 101;
}
EXPORTED cudaError_t cudaMalloc(void **address, size_t bytes) {
  CUdeviceptr given = 0;
  const cudaError_t result = cuMemAlloc_v2(&given, bytes);
  *address = (void *)given;
  NOTE("cudaMalloc", result, ",\"address\":\"0x%llx\",\"bytes\":%zu,\"memory\":\"device\"", given, bytes);
  return result;
}
EXPORTED cudaError_t cudaFree(void *address) {
  cuMemFree_v2((CUdeviceptr)address);
  NOTE("cudaFree", 0, ",\"address\":\"0x%llx\"", (CUdeviceptr)address);
  return 0;
}
EXPORTED cudaError_t cudaMallocManaged(void **address, size_t bytes, unsigned flags) {
  (void)flags;
  *address = (void *)fresh(bytes);
  NOTE("cudaMallocManaged", 0, ",\"address\":\"%p\",\"bytes\":%zu,\"memory\":\"managed\"", *address, bytes);
  return 0;
}
EXPORTED cudaError_t cudaHostAlloc(void **address, size_t bytes, unsigned flags) {
  (void)flags;
  *address = (void *)fresh(bytes);
  NOTE("cudaHostAlloc", 0, ",\"address\":\"%p\",\"bytes\":%zu,\"memory\":\"host\"", *address, bytes);
  return 0;
}
EXPORTED cudaError_t cudaMallocAsync(void **address, size_t bytes, CUstream stream) {
  CUdeviceptr given = 0;
  const cudaError_t result = cuMemAllocAsync(&given, bytes, stream);
  *address = (void *)given;
  NOTE("cudaMallocAsync", result, ",\"address\":\"0x%llx\",\"bytes\":%zu,\"memory\":\"pooled\",\"stream\":\"0x%lx\"", given, bytes, (long)stream);
  return result;
}
EXPORTED cudaError_t cudaFreeAsync(void *address, CUstream stream) {
  cuMemFreeAsync((CUdeviceptr)address, stream);
  NOTE("cudaFreeAsync", 0, ",\"address\":\"0x%llx\",\"stream\":\"0x%lx\"", (CUdeviceptr)address, (long)stream);
  return 0;
}
EXPORTED cudaError_t cudaHostRegister(void *address, size_t bytes, unsigned flags) {
  (void)flags;
  NOTE("cudaHostRegister", 0, ",\"address\":\"%p\",\"bytes\":%zu,\"memory\":\"registered\"", address, bytes);
  return 0;
}
EXPORTED cudaError_t cudaHostUnregister(void *address) {
  NOTE("cudaHostUnregister", 0, ",\"address\":\"%p\"", address);
  return 0;
}
EXPORTED cudaError_t cudaFreeHost(void *address) {
  NOTE("cudaFreeHost", 0, ",\"address\":\"%p\"", address);
  return 0;
}
EXPORTED cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int kind) {
  NOTE("cudaMemcpy", 0, ",\"to\":\"%p\",\"from\":\"%p\",\"bytes\":%zu,\"direction\":\"%s\"", to, from, bytes, directions[kind]);
  return 0;
}
EXPORTED cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, CUstream stream) {
  NOTE("cudaMemcpyAsync", 0, ",\"to\":\"%p\",\"from\":\"%p\",\"bytes\":%zu,\"direction\":\"%s\",\"stream\":\"0x%lx\"", to, from, bytes, directions[kind],
       (long)stream);
  return 0;
}
EXPORTED cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind, CUstream stream) {
  (void)to, (void)to_pitch, (void)from, (void)from_pitch;
  NOTE("cudaMemcpy2DAsync", 0, ",\"bytes\":%zu,\"direction\":\"%s\",\"stream\":\"0x%lx\"", width * height, directions[kind], (long)stream);
  return 0;
}
EXPORTED cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes, CUstream stream) {
  (void)to_device, (void)from_device;
  NOTE("cudaMemcpyPeerAsync", 0, ",\"to\":\"%p\",\"from\":\"%p\",\"bytes\":%zu,\"direction\":\"between devices\",\"stream\":\"0x%lx\"", to, from, bytes,
       (long)stream);
  return 0;
}
EXPORTED cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *copy, CUstream stream) {
  NOTE("cudaMemcpy3DAsync", 0, ",\"bytes\":%zu,\"direction\":\"%s\",\"stream\":\"0x%lx\"", copy->extent.width * copy->extent.height * copy->extent.depth,
       directions[copy->kind], (long)stream);
  return 0;
}
EXPORTED cudaError_t cudaMemsetAsync(void *address, int value, size_t bytes, CUstream stream) {
  (void)value;
  NOTE("cudaMemsetAsync", 0, ",\"address\":\"%p\",\"bytes\":%zu,\"stream\":\"0x%lx\"", address, bytes, (long)stream);
  return 0;
}
EXPORTED cudaError_t cudaMemset(void *address, int value, size_t bytes) {
  (void)value;
  NOTE("cudaMemset", 0, ",\"address\":\"%p\",\"bytes\":%zu", address, bytes);
  return 0;
}
EXPORTED cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **parameters, size_t shared, CUstream stream) {
  (void)parameters, (void)shared;
  NOTE("cudaLaunchKernel", 0, ",\"function\":\"%p\",\"grid\":\"%u×%u×%u\",\"block\":\"%u×%u×%u\",\"stream\":\"0x%lx\"", function, grid.x, grid.y, grid.z,
       block.x, block.y, block.z, (long)stream);
  return 0;
}
EXPORTED cudaError_t __cudaLaunchKernel(CUkernel kernel, dim3 grid, dim3 block, void **parameters, size_t shared, CUstream stream) {
  (void)kernel, (void)parameters, (void)shared;
  NOTE("__cudaLaunchKernel", 0, ",\"grid\":\"%u×%u×%u\",\"block\":\"%u×%u×%u\",\"stream\":\"0x%lx\"", grid.x, grid.y, grid.z, block.x, block.y, block.z,
       (long)stream);
  return 0;
}
EXPORTED cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **parameters) {
  const dim3 grid = config->gridDim, block = config->blockDim;
  const CUlaunchConfig driver = {grid.x, grid.y, grid.z, block.x, block.y, block.z, config->dynamicSmemBytes, config->stream, config->attrs, config->numAttrs};
  const cudaError_t result = cuLaunchKernelEx(&driver, (CUfunction)function, parameters, NULL);
  NOTE("cudaLaunchKernelExC", result, ",\"function\":\"%p\",\"grid\":\"%u×%u×%u\",\"block\":\"%u×%u×%u\",\"stream\":\"0x%lx\"", function, grid.x, grid.y,
       grid.z, block.x, block.y, block.z, (long)config->stream);
  return result;
}
EXPORTED cudaError_t cudaStreamBeginCapture(CUstream stream, int mode) {
  const cudaError_t result = cuStreamBeginCapture_v2(stream, mode);
  NOTE("cudaStreamBeginCapture", result, ",\"stream\":\"0x%lx\"", (long)stream);
  return result;
}
EXPORTED cudaError_t cudaStreamEndCapture(CUstream stream, CUgraph *graph) {
  const cudaError_t result = cuStreamEndCapture(stream, graph);
  NOTE("cudaStreamEndCapture", result, ",\"graph\":\"%p\",\"stream\":\"0x%lx\"", (void *)*graph, (long)stream);
  return result;
}
EXPORTED cudaError_t cudaGraphInstantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
  const cudaError_t result = cuGraphInstantiateWithFlags(exec, graph, flags);
  NOTE("cudaGraphInstantiate", result, ",\"exec\":\"%p\",\"graph\":\"%p\"", (void *)*exec, (void *)graph);
  return result;
}
EXPORTED cudaError_t cudaGraphLaunch(CUgraphExec exec, CUstream stream) {
  const cudaError_t result = cuGraphLaunch(exec, stream);
  NOTE("cudaGraphLaunch", result, ",\"exec\":\"%p\",\"stream\":\"0x%lx\"", (void *)exec, (long)stream);
  return result;
}
EXPORTED cudaError_t cudaGraphDestroy(CUgraph graph) {
  NOTE("cudaGraphDestroy", 0, ",\"graph\":\"%p\"", (void *)graph);
  return 0;
}
EXPORTED cudaError_t cudaStreamCreateWithFlags(CUstream *stream, unsigned flags) {
  *stream = (CUstream)fresh(flags);
  NOTE("cudaStreamCreateWithFlags", 0, ",\"stream\":\"%p\"", (void *)*stream);
  return 0;
}
EXPORTED cudaError_t cudaStreamQuery(CUstream stream) {
  NOTE("cudaStreamQuery", 600, ",\"stream\":\"0x%lx\"", (long)stream);
  return 600;
}
EXPORTED cudaError_t cudaStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  (void)flags;
  NOTE("cudaStreamWaitEvent", 0, ",\"event\":\"%p\",\"stream\":\"0x%lx\"", (void *)event, (long)stream);
  return 0;
}
EXPORTED cudaError_t cudaEventCreateWithFlags(CUevent *event, unsigned flags) {
  *event = (CUevent)fresh(flags);
  NOTE("cudaEventCreateWithFlags", 0, ",\"event\":\"%p\"", (void *)*event);
  return 0;
}
EXPORTED cudaError_t cudaEventRecord(CUevent event, CUstream stream) {
  NOTE("cudaEventRecord", 0, ",\"event\":\"%p\",\"stream\":\"0x%lx\"", (void *)event, (long)stream);
  return 0;
}
EXPORTED cudaError_t cudaEventQuery(CUevent event) {
  NOTE("cudaEventQuery", 0, ",\"event\":\"%p\"", (void *)event);
  return 0;
}
EXPORTED cudaError_t cudaEventSynchronize(CUevent event) {
  NOTE("cudaEventSynchronize", 0, ",\"event\":\"%p\"", (void *)event);
  return 0;
}
EXPORTED cudaError_t cudaEventDestroy(CUevent event) {
  NOTE("cudaEventDestroy", 0, ",\"event\":\"%p\"", (void *)event);
  return 0;
}
EXPORTED cudaError_t cudaStreamSynchronize(CUstream stream) {
  if (stream == NEVER) return cuStreamSynchronize(stream);
  NOTE("cudaStreamSynchronize", 0, ",\"stream\":\"0x%lx\"", (long)stream);
  return 0;
}
EXPORTED cudaError_t cudaDeviceSynchronize(void) {
  NOTE("cudaDeviceSynchronize", 0, "");
  return 0;
}
EXPORTED cudaError_t cudaGetLastError(void) {
  NOTE("cudaGetLastError", 2, "");
  return 2;
}

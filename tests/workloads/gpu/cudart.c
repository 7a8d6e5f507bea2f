/* A stand-in for CUDA's runtime: see log.h. What it allocates and frees, and waits for without end, it asks the driver for, as the real one does. */
#define FIRST_ADDRESS 0x710000000000
#include "log.h"

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes);
CUresult cuMemFree_v2(CUdeviceptr address);
CUresult cuStreamSynchronize(CUstream stream);

__attribute__((constructor)) static void begin(void) { pthread_atfork(NULL, NULL, begin_book); }
__attribute__((destructor)) static void end(void) { write_book("cudart"); }

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
EXPORTED cudaError_t cudaFreeHost(void *address) {
  NOTE("cudaFreeHost", 0, ",\"address\":\"%p\"", address);
  return 0;
}
EXPORTED cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int kind) {
  NOTE("cudaMemcpy", 0, ",\"to\":\"%p\",\"from\":\"%p\",\"bytes\":%zu,\"direction\":\"%s\"", to, from, bytes, directions[kind]);
  return 0;
}
EXPORTED cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, CUstream stream) {
  (void)from;
  NOTE("cudaMemcpyAsync", 0, ",\"to\":\"%p\",\"bytes\":%zu,\"direction\":\"%s\",\"stream\":\"0x%lx\"", to, bytes, directions[kind], (long)stream);
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
  NOTE("cudaGetLastError", 0, "");
  return 2;
}
